config B srq 8
post B recv 100 x3
arm B 2
post A send 10 bytes
A > B  send.only psn=10
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
post A send 10 bytes
A > B  send.only psn=11
B event srq_threshold
B > A  ack       psn=11
A completes send ok; B completes recv ok 10 bytes
post A send 10 bytes
A > B  send.only psn=12
B > A  ack       psn=12
A completes send ok; B completes recv ok 10 bytes
post A send 10 bytes
A > B  send.only psn=13  judged rnr
B > A  rnr       psn=13  drop
fail A
A event failed; A completes send flushed; A event flushed
