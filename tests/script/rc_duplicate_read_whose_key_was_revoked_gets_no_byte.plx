# A duplicate READ asks for memory again, now: the key must grant it now. It gets nothing, not even a NAK.
config A retry 1
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10
B > A  read.first  psn=10    drop
B > A  read.middle psn=11    drop
B > A  read.last   psn=12    drop
retire B.r1
+100us A > B  read.req psn=10   judged duplicate_denied
+100us A completes read retry_exceeded once; A event failed retry_exceeded; A event flushed
state B rts
