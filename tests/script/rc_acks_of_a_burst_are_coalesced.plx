# A burst of three requests is answered by one ACK, of the last.
post B recv 100 x3
post A send 10 bytes x3
B busy
A > B  send.only psn=10
A > B  send.only psn=11
A > B  send.only psn=12
B completes recv ok 10 bytes x3
B idle
B > A  ack psn=12 msn=3
A completes send ok x3
counter B acks_sent 1
