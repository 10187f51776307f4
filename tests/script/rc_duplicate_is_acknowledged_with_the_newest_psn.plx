# C9-105: the ACK of a duplicate carries the PSN of the newest request acknowledged, not the duplicate's.
region B.r1 4096
post A write 100 to B.r1 x3
A > B  write.only psn=10    copy again
B > A  ack        psn=10 msn=1
A > B  write.only psn=11
B > A  ack        psn=11 msn=2
A > B  write.only psn=12
B > A  ack        psn=12 msn=3   drop
A completes write ok x2
release again               judged duplicate
B > A  ack        psn=12 msn=3   judged acked
A completes write ok
