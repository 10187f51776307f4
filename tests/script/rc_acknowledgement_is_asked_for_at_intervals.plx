config mtu 256
config A ack_interval 2
region B.r1 4096
post A write 1280 to B.r1
A > B  write.first  psn=10 ack=0
A > B  write.middle psn=11 ack=1
B > A  ack          psn=11 msn=0
A > B  write.middle psn=12 ack=0
A > B  write.middle psn=13 ack=1
B > A  ack          psn=13 msn=0
A > B  write.last   psn=14 ack=1
B > A  ack          psn=14 msn=1
A completes write ok once
