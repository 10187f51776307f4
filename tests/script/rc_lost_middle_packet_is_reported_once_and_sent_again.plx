# reliability.md F1: the gap is reported by one NAK; the rest of the message is sent again from there.
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10 len=1024
A > B  send.middle psn=11 len=1024      drop
A > B  send.last   psn=12 len=952       judged ahead
B > A  nak.seq     psn=11 msn=0         judged nak_sequence
A > B  send.middle psn=11 len=1024
A > B  send.last   psn=12 len=952
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter A go_backs 1
counter B naks_sent 1
