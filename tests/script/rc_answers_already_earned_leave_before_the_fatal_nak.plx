# The READ was good, the WRITE behind it is not. The READ's bytes leave first, then the NAK, then nothing.
region B.r1 4096
post A read 2000 from B.r1
post A write 10 to 0x1000 rkey=0x12345678
B busy
A > B  read.req    psn=10           judged accept
A > B  write.only  psn=12           judged access
B idle
B > A  read.first  psn=10
B > A  read.last   psn=11
B > A  nak.access  psn=12
A completes read ok 2000 bytes once
A completes write remote_access once; A event failed remote_access; A event flushed
B event failed; B event flushed
