# Go-back-N keeps nothing that comes early (F3): the late packet closes the gap, the early one is sent again.
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   hold late
A > B  send.last   psn=12   judged ahead
B > A  nak.seq     psn=11   hold nak
release late                judged accept
release nak                 judged nak_sequence
A > B  send.middle psn=11   judged duplicate
B > A  ack         psn=11 msn=0
A > B  send.last   psn=12   judged accept
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
