# The first question brings what was executed before the gap; the second closes it, and the packet behind it earns a NAK.
# Nobody knows whether the ACK answers the question or what was sent before it, so the next one waits twice as long.
config A timeout 10ms
post B recv 4096 x2
post A send 10 bytes
A > B  send.only   psn=10
B > A  ack         psn=10
A completes send ok; B completes recv ok 10 bytes
post A send 4000 bytes
A > B  send.first  psn=11
A > B  send.middle psn=12       drop
A > B  send.middle psn=13
B > A  nak.seq     psn=12       drop
A > B  send.last   psn=14       judged ahead_again
+100us A > B  send.first psn=11 judged duplicate
B > A  ack         psn=11       judged acked
A > B  send.last   psn=14       judged ahead_again
+200us A > B  send.middle psn=12 judged accept
B > A  ack         psn=12
A > B  send.last   psn=14       judged ahead
B > A  nak.seq     psn=13
A > B  send.middle psn=13
A > B  send.last   psn=14
B > A  ack         psn=14
A completes send ok once; B completes recv ok 4000 bytes once
counter A timeouts 0
