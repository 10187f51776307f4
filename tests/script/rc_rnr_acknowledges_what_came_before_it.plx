# An RNR NAK says that every earlier request is done.
region B.r1 4096
post A write 100 to B.r1
post A send 100 bytes
B busy
A > B  write.only psn=10
A > B  send.only  psn=11        judged rnr
B idle
B > A  rnr        psn=11 msn=1
A completes write ok once
post B recv 4096
+10us A > B  send.only psn=11
B > A  ack        psn=11 msn=2
A completes send ok; B completes recv ok 100 bytes
