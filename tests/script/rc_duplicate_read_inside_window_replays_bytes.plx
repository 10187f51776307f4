# The whole answer is lost; the READ is asked again and answered again, as itself.
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10 rlen=3000 va=B.r1
B > A  read.first  psn=10 len=1024 msn=1    drop
B > A  read.middle psn=11 len=1024          drop
B > A  read.last   psn=12 len=952           drop
+100us A > B  read.req psn=10 rlen=3000 va=B.r1   judged replay
B > A  read.first  psn=10 len=1024 msn=1
B > A  read.middle psn=11 len=1024
B > A  read.last   psn=12 len=952 msn=1
A completes read ok 3000 bytes once
view B psn_expected 13
