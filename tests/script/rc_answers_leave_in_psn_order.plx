# READ, WRITE, READ in one burst: an ACK that overtook a READ response would say that the response was lost.
region B.r1 4096
region B.r2 4096
post A read 10 from B.r1
post A write 10 to B.r2
post A read 20 from B.r1
post A write 10 to B.r2+20
B busy
A > B  read.req   psn=10
A > B  write.only psn=11
A > B  read.req   psn=12
A > B  write.only psn=13
B idle
B > A  read.only  psn=10
B > A  read.only  psn=12
B > A  ack        psn=13 msn=4
A completes read ok 10 bytes; A completes write ok; A completes read ok 20 bytes; A completes write ok
