# The wire of this script takes 2 us each way; the ACK is back after 4.
config delay 2us
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11      drop
A > B  send.last   psn=12
+2us   B > A  nak.seq  psn=11
+2us   A > B  send.middle psn=11
A > B  send.last   psn=12
+2us   B > A  ack  psn=12 msn=1
B completes recv ok 3000 bytes once
+2us   A completes send ok once
