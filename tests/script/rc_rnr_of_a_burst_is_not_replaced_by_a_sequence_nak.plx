# As above, but the whole flight arrives before the responder transmits: the RNR is what must leave, or the
# requester would come back at once, again and again.
post A send 3000 bytes
B busy
A > B  send.first  psn=10    judged rnr
A > B  send.middle psn=11    judged ahead
A > B  send.last   psn=12    judged ahead_again
B idle
B > A  rnr         psn=10
quiet
post B recv 4096
+10us A > B  send.first  psn=10   ack=1
B > A  ack         psn=10 msn=0
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter B naks_sent 0
