# F20: 0xffffff is followed by 0; the gap is reported, acknowledged and repaired across the wrap.
config A psn 0xfffffe
post B recv 8192
post A send 5000 bytes
A > B  send.first  psn=0xfffffe
A > B  send.middle psn=0xffffff      drop
A > B  send.middle psn=0..1
A > B  send.last   psn=2
B > A  nak.seq     psn=0xffffff
A > B  send.middle psn=0xffffff..1
A > B  send.last   psn=2
B > A  ack         psn=2 msn=1
A completes send ok once; B completes recv ok 5000 bytes once
