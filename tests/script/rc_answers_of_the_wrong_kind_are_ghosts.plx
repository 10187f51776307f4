# A response at the PSN of a request that waits for none, or for another kind, acknowledges nothing.
region B.r1 64
post A write 8 to B.r1
post A fetch_add B.r1+8 add=1
A > B  write.only psn=10   hold w
A > B  fetch_add  psn=11   hold f
inject B > A atomic.ack psn=10 was=5 msn=1       judged ghost
inject B > A read.only  psn=10 len=8 msn=1       judged ghost
inject B > A read.only  psn=11 len=8 msn=1       judged ghost
quiet
view A psn_unacked 10
fail A
A event failed; A completes write flushed; A completes fetch_add flushed; A event flushed
release w; B > A ack psn=10 judged state
release f; B > A atomic.ack psn=11 judged state
