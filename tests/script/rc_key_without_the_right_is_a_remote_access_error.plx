region B.r1 4096 local_write remote_read
post A write 100 to B.r1
A > B  write.only psn=10            judged access
B > A  nak.access psn=10
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
