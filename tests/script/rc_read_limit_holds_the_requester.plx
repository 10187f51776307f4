# initiator_depth 2: the third READ leaves when the first one is answered; a WRITE behind it waits its turn too.
config A initiator_depth 2
region B.r1 4096
region B.r2 4096
post A read 100 from B.r1 x3
post A write 10 to B.r2
A > B  read.req  psn=10
A > B  read.req  psn=11
B > A  read.only psn=10          hold first
B > A  read.only psn=11          drop
+1us quiet
view A rd_atomic_open 2
release first
A completes read ok 100 bytes
A > B  read.req  psn=12          drop
A > B  write.only psn=13         drop
+100us A > B  read.req psn=11
B > A  read.only psn=11
A completes read ok 100 bytes
A > B  read.req  psn=12
B > A  read.only psn=12
A completes read ok 100 bytes
A > B  write.only psn=13
B > A  ack       psn=13
A completes write ok
