config mtu 256
post B recv 65536
post A send 10000 bytes
A > B  send.first  psn=10     len=256
A > B  send.middle psn=11..48 len=256
A > B  send.last   psn=49     len=16
B > A  ack         psn=49 msn=1
A completes send ok once; B completes recv ok 10000 bytes once
