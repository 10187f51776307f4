# Code 0 stands for 655.36 ms.
config B rnr_timer 0
post A send 100 bytes
A > B  send.only psn=10
B > A  rnr       psn=10 timer=0
A wakes in 655.36ms
post B recv 4096
+655.36ms A > B  send.only psn=10
B > A  ack       psn=10 msn=1
A completes send ok; B completes recv ok 100 bytes
