# read_chunk 2 packets, so a READ of five takes three requests; initiator_depth 2 lets two be open at once.
config mtu 256
config A read_chunk 2 initiator_depth 2
region B.r1 4096
post A read 1200 from B.r1
A > B  read.req   psn=10 va=B.r1 rlen=512
A > B  read.req   psn=12 va=B.r1+512 rlen=512
B > A  read.first psn=10
B > A  read.last  psn=11
A > B  read.req   psn=14 va=B.r1+1024 rlen=176
B > A  read.first psn=12
B > A  read.last  psn=13
B > A  read.only  psn=14 len=176 msn=3
A completes read ok 1200 bytes once
