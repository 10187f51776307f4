# Three messages, one ACK: the lost ones of the first two are of no consequence.
post B recv 100 x3
post A send 10 bytes as one; post A send 20 bytes as two; post A send 30 bytes as three
A > B  send.only psn=10
B > A  ack       psn=10      drop
A > B  send.only psn=11
B > A  ack       psn=11      drop
A > B  send.only psn=12
B > A  ack       psn=12 msn=3
A completes send ok as one; A completes send ok as two; A completes send ok as three
B completes recv ok 10 bytes; B completes recv ok 20 bytes; B completes recv ok 30 bytes
