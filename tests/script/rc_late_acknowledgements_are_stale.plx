# What was acknowledged before is no news, and a NAK among it is no order.
region B.r1 4096
post A write 10 to B.r1 x2
A > B  write.only psn=10
B > A  ack        psn=10
A > B  write.only psn=11   hold it
A completes write ok
inject B > A ack psn=10 msn=1           judged stale
inject B > A nak.seq psn=10 msn=1       judged stale
inject B > A nak.access psn=10 msn=1    judged stale
inject B > A rnr psn=10 msn=1 timer=1   judged stale
quiet
release it
B > A  ack        psn=11
A completes write ok
