config mtu 2048
post B recv 65536 sges=7
post A send 20001 bytes sges=5
A > B  send.first  psn=10     len=2048
A > B  send.middle psn=11..18 len=2048
A > B  send.last   psn=19     len=1569 pad=3
B > A  ack         psn=19 msn=1
A completes send ok once; B completes recv ok 20001 bytes once
