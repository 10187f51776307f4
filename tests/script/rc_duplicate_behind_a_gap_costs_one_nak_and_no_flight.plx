# A duplicate of the packet that told of the gap looks like another flight. The NAK that it earns comes sooner than any
# answer to what is sent again can, and is not obeyed.
config delay 2us
post B recv 4096 x2
post A send 10 bytes
A > B  send.only   psn=10
+2us   B > A  ack  psn=10
B completes recv ok 10 bytes
+2us   A completes send ok
post A send 3000 bytes
A > B  send.first  psn=11       drop
A > B  send.middle psn=12   dup
A > B  send.last   psn=13
+2us   B > A  nak.seq  psn=11
B > A  nak.seq     psn=11
+2us   A > B  send.first psn=11
A > B  send.middle psn=12
A > B  send.last   psn=13
+2us   B > A  ack  psn=13 msn=2
B completes recv ok 3000 bytes
+2us   A completes send ok
counter A go_backs 1
counter A verdict.nak_again 1
