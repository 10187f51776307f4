# Class B fault, IBTA vol 1, 9.9: one NAK for a gap, then silence until it closes or another flight begins (F3).
config mtu 256
post B recv 4096
post A send 1280 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   drop
A > B  send.middle psn=12   judged ahead
A > B  send.middle psn=13   judged ahead_again
A > B  send.last   psn=14   judged ahead_again
B > A  nak.seq     psn=11 msn=0
A > B  send.middle psn=11..13
A > B  send.last   psn=14
B > A  ack         psn=14 msn=1
A completes send ok; B completes recv ok 1280 bytes
counter B naks_sent 1
counter B verdict.ahead_again 2
