# Of the READ no answer has come: its request may be lost, and a piece of it would be a shorter READ to the responder. The
# window of one or two packets does not cut it.
config mtu 256
region B.r1 4096
post A send 100 bytes
post A read 2048 from B.r1
A > B  send.only   psn=10             judged rnr
A > B  read.req    psn=11 rlen=2048   drop
B > A  rnr         psn=10
post B recv 4096
+10us  A > B send.only psn=10
B > A  ack         psn=10
A completes send ok; B completes recv ok 100 bytes
A > B  read.req    psn=11 rlen=2048   judged accept
B > A  read.first  psn=11
B > A  read.middle psn=12..17
B > A  read.last   psn=18
A completes read ok 2048 bytes
