config mtu 4096
region B.r1 65536
post A write 40962 to B.r1
A > B  write.first  psn=10     len=4096
A > B  write.middle psn=11..19 len=4096
A > B  write.last   psn=20     len=2 pad=2
B > A  ack          psn=20 msn=1
A completes write ok once
