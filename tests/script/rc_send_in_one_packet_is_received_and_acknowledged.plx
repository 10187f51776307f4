# The smallest exchange: one packet, one ACK, one completion at each end.
post B recv 4096
post A send 100 bytes
A > B  send.only psn=10 len=100 ack=1 se=0   judged accept
B > A  ack       psn=10 msn=1                judged acked
A completes send ok once; B completes recv ok 100 bytes once
+1s quiet
A wakes never
B wakes never
