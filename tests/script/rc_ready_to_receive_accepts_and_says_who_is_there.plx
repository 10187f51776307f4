# RTR: the first packet is taken, answered, and reported; nothing of its own can be sent yet.
config B state rtr
post B recv 100
post B send 10 refused state
post A send 10 bytes
A > B  send.only psn=10     judged accept
B event comm_established
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
post B recv 100
post A send 10 bytes
A > B  send.only psn=11
B > A  ack       psn=11
A completes send ok; B completes recv ok 10 bytes
modify B rts
post A recv 100
post B send 20 bytes
B > A  send.only psn=100
A > B  ack       psn=100
B completes send ok; A completes recv ok 20 bytes
