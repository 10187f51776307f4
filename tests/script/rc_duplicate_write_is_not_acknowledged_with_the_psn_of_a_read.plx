# Immanuel's bug in a software responder; C9-105: a READ is acknowledged by its responses alone, so the
# ACK of a duplicate WRITE must not name the READ that came after it, whose responses may be lost.
region B.r1 4096
region B.r2 4096
post A write 100 to B.r1
post A read 3000 from B.r2
A > B  write.only  psn=10
B > A  ack         psn=10 msn=1      drop
A > B  read.req    psn=11 rlen=3000
B > A  read.first  psn=11            drop
B > A  read.middle psn=12            drop
B > A  read.last   psn=13            drop
+100us A > B  write.only psn=10      judged duplicate
B > A  ack         psn=10            judged acked
A > B  read.req    psn=11 rlen=3000  judged replay
B > A  read.first  psn=11 len=1024
B > A  read.middle psn=12 len=1024
B > A  read.last   psn=13 len=952
A completes write ok once; A completes read ok 3000 bytes once
