# F4: a wrong ICRC changes nothing at all at the receiver, whichever packet it is.
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   flip 100   judged icrc
A > B  send.last   psn=12              judged ahead
B > A  nak.seq     psn=11
A > B  send.middle psn=11
A > B  send.last   psn=12
B completes recv ok 3000 bytes once
B > A  ack         psn=12   flip 12    judged icrc
+100us A > B  send.middle psn=11       flip 9   judged icrc
A > B  send.last   psn=12              judged duplicate
B > A  ack         psn=12
A completes send ok once
