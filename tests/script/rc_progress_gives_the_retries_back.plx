config A retry 1
post B recv 100 x2
post A send 10 bytes x2
A > B  send.only psn=10..11      drop
+100us A > B  send.only psn=10
view A retries_left 0
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
view A retries_left 1
A > B  send.only psn=11          drop
+100us A > B  send.only psn=11
B > A  ack       psn=11
A completes send ok; B completes recv ok 10 bytes
