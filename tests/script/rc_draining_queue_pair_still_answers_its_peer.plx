# SQD stops what we begin, not what the peer asks for.
region B.r1 4096
post B recv 100
modify B sqd
B event sq_drained
post A send 10 bytes
A > B  send.only psn=10
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
post A read 100 from B.r1
A > B  read.req  psn=11
B > A  read.only psn=11
A completes read ok 100 bytes
