# rnr_retry 1: each message may be refused once; the count starts anew behind every acknowledged one.
config A rnr_retry 1
post A send 100 bytes
A > B  send.only psn=10
B > A  rnr       psn=10
view A rnr_retries_left 0
post B recv 4096
+10us A > B  send.only psn=10
B > A  ack       psn=10
A completes send ok; B completes recv ok 100 bytes
view A rnr_retries_left 1
post A send 200 bytes
A > B  send.only psn=11
B > A  rnr       psn=11
post B recv 4096
+10us A > B  send.only psn=11
B > A  ack       psn=11 msn=2
A completes send ok; B completes recv ok 200 bytes
