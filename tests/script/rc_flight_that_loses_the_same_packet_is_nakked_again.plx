# The requester has gone back and the packet that was missing is lost once more. What comes behind it begins anew with a PSN
# that was there before: the responder says so again, and the requester goes back again, for no further retry.
config mtu 256 delay 2us
post B recv 4096 x2
post A send 10 bytes
A > B  send.only   psn=10
+2us   B > A  ack  psn=10
B completes recv ok 10 bytes
+2us   A completes send ok
post A send 1280 bytes
A > B  send.first  psn=11
A > B  send.middle psn=12       drop
A > B  send.middle psn=13
A > B  send.middle psn=14
A > B  send.last   psn=15
+2us   B > A  nak.seq  psn=12
+2us   A > B  send.middle psn=12   drop
A > B  send.middle psn=13
A > B  send.middle psn=14
A > B  send.last   psn=15
+2us   B > A  nak.seq  psn=12
+2us   view A retries_left 2
A > B  send.middle psn=12..14
A > B  send.last   psn=15
+2us   B > A  ack  psn=15 msn=2
B completes recv ok 1280 bytes once
+2us   A completes send ok once
counter A timeouts 0
counter A go_backs 2
counter A verdict.lost_again 1
counter B naks_sent 2
counter B verdict.ahead_again 4
