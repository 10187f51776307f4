config mtu 1024
region B.r1 65536
post A read 10000 from B.r1+3
A > B  read.req    psn=10 rlen=10000
B > A  read.first  psn=10     len=1024
B > A  read.middle psn=11..18 len=1024
B > A  read.last   psn=19     len=784 pad=0
A completes read ok 10000 bytes once
