# Its AETH says all that the ACK would have said, so no ACK is sent.
region B.r1 4096
region B.r2 4096
post A write 10 to B.r1
post A read 20 from B.r2
B busy
A > B  write.only psn=10
A > B  read.req   psn=11
B idle
B > A  read.only  psn=11
A completes write ok once; A completes read ok 20 bytes once
counter B acks_sent 0
