region B.r1 4096
region A.r1 4096 local_write bind
bind A.w1 to A.r1 100 bytes remote_read
post A write 100 to B.r1
post A bind
post A write 200 to B.r1
A > B  write.only psn=10
A > B  write.only psn=11
B > A  ack        psn=10
A completes write ok; A completes bind ok once
B > A  ack        psn=11
A completes write ok
