config A timeout 10ms
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10
B > A  read.first  psn=10
B > A  read.middle psn=11
B > A  read.last   psn=12          drop
+100us A > B  read.req psn=12 rlen=952 va=B.r1+2048
B > A  read.only   psn=12 len=952
A completes read ok 3000 bytes once
counter A timeouts 0
