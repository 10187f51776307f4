# Of the READ no answer has come: its request may be lost, and a piece of it would be a shorter READ to the responder.
config A window 6 timeout 10ms
config mtu 256 delay 2us
region B.r1 8192
post A write 256 to B.r1
A > B  write.only   psn=10
+2us  B > A  ack    psn=10
+2us  A completes write ok
post A write 256 to B.r1
post A read 2048 from B.r1
A > B  write.only   psn=11     drop
A > B  read.req     psn=12 rlen=2048
+2us  B > A  nak.seq psn=11
+2us  A > B  write.only   psn=11
+2us  B > A  ack    psn=11
+2us  A completes write ok
A > B  read.req     psn=12 rlen=2048
+2us  B > A  read.first psn=12
B > A  read.middle psn=13..18
B > A  read.last   psn=19
+2us  A completes read ok 2048 bytes
