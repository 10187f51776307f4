# The key may still be the peer's to use until the SEND before it is acknowledged.
region A.r1 4096 local_write remote_write invalidate
post B recv 4096 x2
post A send 100 bytes
post A local_inv A.r1
post A send 200 bytes
key A.r1 is granted
A > B  send.only psn=10
B completes recv ok 100 bytes
B > A  ack       psn=10   hold ack
+1us quiet
key A.r1 is granted
release ack
A completes send ok; A completes local_inv ok inv=A.r1 once
key A.r1 is unknown
A > B  send.only psn=11
B > A  ack       psn=11
A completes send ok; B completes recv ok 200 bytes
