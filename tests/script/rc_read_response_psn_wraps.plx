config A psn 0xffffff
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=0xffffff
B > A  read.first  psn=0xffffff
B > A  read.middle psn=0
B > A  read.last   psn=1             drop
+100us A > B  read.req psn=1 rlen=952 va=B.r1+2048
B > A  read.only   psn=1
A completes read ok 3000 bytes once
post A read 10 from B.r1
A > B  read.req    psn=2
B > A  read.only   psn=2
A completes read ok 10 bytes
