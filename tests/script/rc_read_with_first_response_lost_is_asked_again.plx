# A response out of order is a loss (PLX_LOSS_RESPONSE): what came early is dropped, and asked again at once.
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10 rlen=3000
B > A  read.first  psn=10          drop
B > A  read.middle psn=11          judged response_lost
A > B  read.req    psn=10 rlen=3000 va=B.r1   hold again
B > A  read.last   psn=12          judged nak_again
release again
B > A  read.first  psn=10
B > A  read.middle psn=11
B > A  read.last   psn=12
A completes read ok 3000 bytes once
