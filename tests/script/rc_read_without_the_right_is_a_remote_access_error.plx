region B.r1 4096 local_write remote_write
post A read 100 from B.r1
A > B  read.req   psn=10            judged access
B > A  nak.access psn=10
A completes read remote_access; A event failed; A event flushed; B event failed; B event flushed
