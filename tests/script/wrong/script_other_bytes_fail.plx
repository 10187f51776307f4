# fails: :6: byte 0 of B.r1 is
region B.r1 100
post A write 10 to B.r1
A > B  write.only psn=10
B > A  ack psn=10
A completes write ok; memory B.r1 unchanged
