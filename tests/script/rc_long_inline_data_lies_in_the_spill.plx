config mtu 256 inline 1024
region B.r1 4096
post A write 1000 to B.r1 inline
A > B  write.first  psn=10 len=256
A > B  write.middle psn=11..12 len=256
A > B  write.last   psn=13 len=232
B > A  ack          psn=13
A completes write ok once
