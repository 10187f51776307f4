post B recv 0
post A send 0
A > B  send.only psn=10 len=0 ack=1
B > A  ack       psn=10 msn=1
A completes send ok once; B completes recv ok 0 bytes once
