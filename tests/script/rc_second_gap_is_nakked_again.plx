# After the first gap has closed, the next one gets its own NAK.
config mtu 256
post B recv 4096
post A send 1280 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   drop
A > B  send.middle psn=12   judged ahead
A > B  send.middle psn=13   judged ahead_again
A > B  send.last   psn=14   judged ahead_again
B > A  nak.seq     psn=11
A > B  send.middle psn=11   judged accept
A > B  send.middle psn=12   drop
A > B  send.middle psn=13   judged ahead
A > B  send.last   psn=14   judged ahead_again
B > A  nak.seq     psn=12
A > B  send.middle psn=12..13
A > B  send.last   psn=14
B > A  ack         psn=14 msn=1
A completes send ok; B completes recv ok 1280 bytes
counter B naks_sent 2
