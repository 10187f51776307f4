# Its PSN is before the READ's, and the answer that would have said it too has left already.
config B budget 1
region B.r1 4096
region B.r2 4096
post A write 10 to B.r1
A > B  write.only  psn=10           copy again
B > A  ack         psn=10
A completes write ok
B busy
post A read 3000 from B.r2
A > B  read.req    psn=11
B once
B > A  read.first  psn=11
release again                       judged duplicate
B idle
B > A  ack         psn=10           judged stale
B > A  read.middle psn=12
B > A  read.last   psn=13
A completes read ok 3000 bytes once
