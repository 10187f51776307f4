config ip 6
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11   drop
A > B  send.last   psn=12   ce
B > A  cnp         becn=1 psn=0
B > A  nak.seq     psn=11
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12
A completes send ok; B completes recv ok 3000 bytes
counter B ce_marks 1
