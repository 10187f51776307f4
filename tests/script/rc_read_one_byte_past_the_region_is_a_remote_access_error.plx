region B.r1 4096
post A read 1000 from B.r1+3097
A > B  read.req   psn=10            judged access
B > A  nak.access psn=10
A completes read remote_access; A event failed; A event flushed; B event failed; B event flushed
