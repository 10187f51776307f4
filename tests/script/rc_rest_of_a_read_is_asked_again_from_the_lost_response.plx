# The requester has the first 1024 bytes: it asks for the rest, a part of the READ the responder remembers.
region B.r1 4096
post A read 3000 from B.r1
A > B  read.req    psn=10 rlen=3000
B > A  read.first  psn=10
B > A  read.middle psn=11                   drop
B > A  read.last   psn=12                   drop
+100us A > B  read.req psn=11 rlen=1976 va=B.r1+1024   judged replay
B > A  read.first  psn=11 len=1024
B > A  read.last   psn=12 len=952
A completes read ok 3000 bytes once
