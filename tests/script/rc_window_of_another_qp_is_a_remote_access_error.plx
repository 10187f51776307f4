# T12: a type 2 window is bound to one QP; its key is worth nothing on any other.
region B.r1 4096 local_write remote_write bind
bind B.w1 to B.r1 200 bytes remote_write other
key B.w1 is wrong_qp
post A write 100 to B.w1
A > B  write.only psn=10        judged access
B > A  nak.access psn=10
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
