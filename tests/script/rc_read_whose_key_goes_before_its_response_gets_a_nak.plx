# The request was good; the region is deregistered before the answer is built. Not a byte of it leaves (T13).
region B.r1 4096
post A read 3000 from B.r1
B busy
A > B  read.req    psn=10           judged accept
retire B.r1
B idle
B > A  nak.access  psn=10
A completes read remote_access once; A event failed remote_access; A event flushed
B event failed remote_access; B event flushed
state B error
