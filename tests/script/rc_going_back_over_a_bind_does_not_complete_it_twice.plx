region B.r1 4096
region A.r1 4096 local_write bind
bind A.w1 to A.r1 100 bytes remote_read
post A write 100 to B.r1 as one
post A bind as two
post A write 200 to B.r1+200 as three
A > B  write.only psn=10..11   drop
+100us A > B  write.only psn=10
B > A  ack        psn=10
A completes write ok as one; A completes bind ok as two
A > B  write.only psn=11       drop
+100us A > B  write.only psn=11
B > A  ack        psn=11
A completes write ok as three
