# Immanuel's other bug: a late duplicate READ between the packets of a WRITE made the responder forget
# that a WRITE was open, and the next middle packet an invalid request.
region B.r1 4096
region B.r2 4096
post A read 100 from B.r2
post A write 3000 to B.r1
A > B  read.req     psn=10           copy old
B > A  read.only    psn=10 len=100
A completes read ok 100 bytes
A > B  write.first  psn=11
release old                          judged replay
B > A  read.only    psn=10 len=100
A > B  write.middle psn=12           judged accept
A > B  write.last   psn=13           judged accept
B > A  ack          psn=13 msn=2
A completes write ok once
state B rts
