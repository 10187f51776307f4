# The responder says it once. When that one NAK is lost, the requester's timer repairs the loss (F1).
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   drop
A > B  send.last   psn=12
B > A  nak.seq     psn=11   drop
+100us A > B  send.first  psn=10   judged duplicate
B > A  ack         psn=10 msn=0
A > B  send.middle psn=11   judged accept
A > B  send.last   psn=12   judged accept
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter A timeouts 1
