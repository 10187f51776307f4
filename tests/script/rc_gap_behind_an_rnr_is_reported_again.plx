# The expected packet came, found no receive, and comes again after the wait: the loss of that one is a new gap.
config A timeout 10ms
post A send 3000 bytes
A > B  send.first  psn=10   drop
A > B  send.middle psn=11   judged ahead
B > A  nak.seq     psn=10   judged nak_sequence
A > B  send.last   psn=12   judged ahead_again
A > B  send.first  psn=10   judged rnr
B > A  rnr         psn=10
A > B  send.middle psn=11   drop
A > B  send.last   psn=12   drop
post B recv 4096
+10us A > B  send.first  psn=10   drop
# One packet goes first after the wait; a late one of the flight before is what comes behind it.
inject A > B send.middle psn=11 len=1024  judged ahead
B > A  nak.seq     psn=10   judged nak_sequence
A > B  send.first  psn=10
B > A  ack         psn=10
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12
A completes send ok once; B completes recv ok 3000 bytes once
counter A timeouts 0
