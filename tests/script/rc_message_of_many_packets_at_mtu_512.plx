config mtu 512
region B.r1 65536
post A write 10000 to B.r1+1
A > B  write.first  psn=10     len=512 va=B.r1+1 rlen=10000 rkey=B.r1
A > B  write.middle psn=11..28 len=512
A > B  write.last   psn=29     len=272
B > A  ack          psn=29 msn=1
A completes write ok once
memory B.r1 unchanged 1
memory B.r1+10001 unchanged
