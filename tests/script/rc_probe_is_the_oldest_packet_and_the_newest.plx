# The oldest tells a peer that lacks it; the newest, behind it, makes it see the gap between. The rest follows from its NAK.
config A timeout 10ms mtu 256
config B mtu 256
post B recv 4096 x2
post A send 10 bytes
A > B  send.only   psn=10
B > A  ack         psn=10
A completes send ok; B completes recv ok 10 bytes
post A send 1280 bytes
A > B  send.first  psn=11
A > B  send.middle psn=12..14   drop
A > B  send.last   psn=15       drop
+100us A > B  send.first psn=11 ack=1   judged duplicate
B > A  ack         psn=11
A > B  send.last   psn=15       judged ahead
B > A  nak.seq     psn=12       judged nak_sequence
A > B  send.middle psn=12..14
A > B  send.last   psn=15
B > A  ack         psn=15 msn=2
A completes send ok; B completes recv ok 1280 bytes
counter A probes 1
counter A timeouts 0
