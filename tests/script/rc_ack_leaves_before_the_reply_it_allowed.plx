# Design decision 9: the application answers in the instant its receive completes; the ACK goes first, so
# the requester finds its own completion before the reply.
post B recv 100
post A recv 100
post A send 10 bytes
B busy
A > B  send.only psn=10
B completes recv ok 10 bytes
post B send 20 bytes
B idle
B > A  ack       psn=10 msn=1
A completes send ok
B > A  send.only psn=100
A > B  ack       psn=100 msn=1
A completes recv ok 20 bytes
B completes send ok
