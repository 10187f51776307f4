region B.r1 4096
post A write 100 to B.r1 x3
B busy
A > B  write.only psn=10
A > B  write.only psn=11       drop
A > B  write.only psn=12       judged ahead
B idle
B > A  nak.seq    psn=11 msn=1
A completes write ok
A > B  write.only psn=11
B > A  ack        psn=11
A > B  write.only psn=12
B > A  ack        psn=12
A completes write ok x2
