# An ACK of what came behind a READ cannot complete the READ, whose bytes never came.
region B.r1 4096
post A read 100 from B.r1
post A write 100 to B.r1+200
A > B  read.req    psn=10
B > A  read.only   psn=10          drop
A > B  write.only  psn=11
B > A  ack         psn=11 msn=2    judged response_lost
A > B  read.req    psn=10          judged replay
B > A  read.only   psn=10
A completes read ok 100 bytes once
A > B  write.only  psn=11          judged duplicate
B > A  ack         psn=11 msn=2
A completes write ok once
