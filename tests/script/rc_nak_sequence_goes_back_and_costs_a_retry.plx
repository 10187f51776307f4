# What the NAK names is sent again; a requester that is told so too often gives up.
config retry 2
region B.r1 4096
post A write 100 to B.r1
A > B  write.only psn=10       drop
inject B > A nak.seq psn=10 msn=0   judged nak_sequence
view A retries_left 1
A > B  write.only psn=10
B > A  ack psn=10 msn=1
A completes write ok
view A retries_left 2
