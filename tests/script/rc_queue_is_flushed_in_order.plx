# reliability.md I9: first the cause, then everything behind it in the order of posting, then the receives.
config A retry 0
post A recv 10 as r1; post A recv 10 as r2
post A send 10 bytes as s1; post A send 20 bytes as s2
post A local_inv 0x5 as s3
post A read 10 from 0x1000 rkey=1 as s4
A > B  send.only psn=10..11 drop
+100us A completes send retry_exceeded as s1
A completes send flushed as s2; A completes local_inv flushed as s3; A completes read flushed as s4
A completes recv flushed as r1; A completes recv flushed as r2
A event failed retry_exceeded; A event flushed
