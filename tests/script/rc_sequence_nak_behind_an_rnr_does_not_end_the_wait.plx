# The rest of the flight comes behind the packet that found no receive, and earns one sequence NAK, as peers
# in the field send it. The requester waits all the same, and is charged nothing for it (F19).
config A retry 1
post A send 3000 bytes
A > B  send.first  psn=10    judged rnr
B > A  rnr         psn=10    judged nak_rnr
A > B  send.middle psn=11    judged ahead
B > A  nak.seq     psn=10    judged nak_again
A > B  send.last   psn=12    judged ahead_again
post B recv 4096
view A retries_left 1
+9.999us quiet
+1ns A > B  send.first  psn=10   judged accept
B > A  ack         psn=10 msn=0
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter A go_backs 0
