region B.r1 4096 local_write remote_write invalidate
post B recv 4096
post A send 3000 bytes inv=B.r1
A > B  send.first    psn=10
A > B  send.middle   psn=11
A > B  send.last.inv psn=12 inv=B.r1
B > A  ack           psn=12 msn=1
A completes send_inv ok once; B completes recv ok 3000 bytes inv=B.r1 once
key B.r1 is unknown
