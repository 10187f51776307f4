config A psn 0xffffff
region B.r1 4096
post A write 10 to B.r1 x2
A > B  write.only psn=0xffffff  copy old
B > A  ack        psn=0xffffff
A > B  write.only psn=0
B > A  ack        psn=0
A completes write ok x2
scribble B.r1
release old                     judged duplicate
B > A  ack        psn=0 msn=2
memory B.r1 unchanged
