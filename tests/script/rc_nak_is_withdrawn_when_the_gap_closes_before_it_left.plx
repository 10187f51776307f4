# One burst brings the early packet and then the late one: there is nothing to complain of any more. What the NAK
# would have acknowledged is acknowledged; what came early is gone, and the requester's timer notices.
post B recv 4096
post A send 3000 bytes
B busy
A > B  send.first  psn=10
A > B  send.middle psn=11   hold late
A > B  send.last   psn=12   judged ahead
release late                judged accept
B idle
B > A  ack         psn=11 msn=0
quiet
+100us A > B  send.last   psn=12   judged accept
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter B naks_sent 0
