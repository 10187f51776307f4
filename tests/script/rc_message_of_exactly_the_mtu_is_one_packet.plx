post B recv 4096 x2
post A send 1024 bytes
A > B  send.only  psn=10 len=1024
B > A  ack        psn=10
A completes send ok; B completes recv ok 1024 bytes
post A send 1025 bytes
A > B  send.first psn=11 len=1024
A > B  send.last  psn=12 len=1 pad=3
B > A  ack        psn=12
A completes send ok; B completes recv ok 1025 bytes
