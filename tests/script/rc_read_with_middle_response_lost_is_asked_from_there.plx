region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10
B > A  read.first  psn=10
B > A  read.middle psn=11          drop
B > A  read.last   psn=12          judged response_lost
A > B  read.req    psn=11 rlen=1976 va=B.r1+1024
B > A  read.first  psn=11 len=1024
B > A  read.last   psn=12 len=952
A completes read ok 3000 bytes once
