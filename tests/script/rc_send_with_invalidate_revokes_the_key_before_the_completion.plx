# T12: when the receive completes, the window is closed, and the completion names its key.
region B.r1 4096 local_write remote_write bind
bind B.w1 to B.r1+100 200 bytes remote_write
post B recv 4096
post A write 200 to B.w1
A > B  write.only psn=10
B > A  ack        psn=10 msn=1
A completes write ok
key B.w1 is granted
post A send 10 bytes inv=B.w1
A > B  send.only.inv psn=11 inv=B.w1
B > A  ack        psn=11 msn=2
A completes send_inv ok once; B completes recv ok 10 bytes inv=B.w1 once
key B.w1 is unknown
scribble B.r1
post A write 200 to B.w1
A > B  write.only psn=12        judged access
B > A  nak.access psn=12
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
