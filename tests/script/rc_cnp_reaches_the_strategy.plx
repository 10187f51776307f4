config A cc fake
region B.r1 4096
post A write 3000 to B.r1
inject B > A cnp          judged cnp
A strategy sent=3 acked=0 notified=1
A > B  write.first  psn=10
A > B  write.middle psn=11
A > B  write.last   psn=12
B > A  ack          psn=10
B > A  ack          psn=12
A completes write ok
A strategy acked=3 lost=0
