config A cc fake
region B.r1 4096
post A write 3000 to B.r1
A > B  write.first  psn=10
A > B  write.middle psn=11   drop
A > B  write.last   psn=12
B > A  ack          psn=10
B > A  nak.seq      psn=11
A strategy lost=1
A > B  write.middle psn=11   drop
A > B  write.last   psn=12   drop
+100us A > B  write.middle psn=11
A strategy lost=2
A > B  write.last   psn=12
B > A  ack          psn=12
A completes write ok
