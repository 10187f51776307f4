# Inside the region, one byte behind the window.
region B.r1 4096 local_write remote_write bind
bind B.w1 to B.r1+100 200 bytes remote_write
post A write 200 to B.w1+1
A > B  write.only psn=10        judged access
B > A  nak.access psn=10
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
