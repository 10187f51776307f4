# C9-88: with no bytes there is nothing to protect; a key of 0 is good enough.
post A write 0 to 0x1000 rkey=0
A > B  write.only psn=10 len=0 rlen=0   judged accept
B > A  ack        psn=10 msn=1
A completes write ok once
post A read 0 from 0x1000 rkey=0
A > B  read.req   psn=11 rlen=0         judged accept
B > A  read.only  psn=11 len=0 msn=2
A completes read ok 0 bytes once
