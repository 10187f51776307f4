# T17, F19: 7 means no limit; nothing is charged, nothing fails, and the message goes when it can.
config A rnr_retry 7
post A send 100 bytes
A > B  send.only psn=10
B > A  rnr       psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10  x1
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
+10us A > B  send.only psn=10;  B > A  rnr psn=10
counter A rnr_waits 10
post B recv 4096
+10us A > B  send.only psn=10
B > A  ack       psn=10 msn=1
A completes send ok once; B completes recv ok 100 bytes once
