# window 2: never more than two packets without an acknowledgement (F21, I6).
config mtu 256
config A window 2
region B.r1 4096
post A write 1024 to B.r1
A > B  write.first  psn=10
A > B  write.middle psn=11   ack=1
B > A  ack          psn=11
A > B  write.middle psn=12
A > B  write.last   psn=13   ack=1
B > A  ack          psn=13 msn=1
A completes write ok once
