# One burst brings the early packet and then the late one. The gap is closed before its NAK has left, but what came
# early is gone: the NAK asks for that, and acknowledges the late packet on the way. No timer has to notice.
post B recv 4096
post A send 3000 bytes
B busy
A > B  send.first  psn=10
A > B  send.middle psn=11   hold late
A > B  send.last   psn=12   judged ahead
release late                judged accept
B idle
B > A  nak.seq     psn=12 msn=0
A > B  send.last   psn=12   judged accept
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter B naks_sent 1
counter A timeouts 0
