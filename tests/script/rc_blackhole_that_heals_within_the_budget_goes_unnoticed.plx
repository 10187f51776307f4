# F8: everything is lost, both ways, for less than (retry + 1) timeouts. No application sees it.
config A retry 7 timeout 1ms
post B recv 4096
post A send 3000 bytes
A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10; A > B send.middle psn=11; A > B send.last psn=12
B completes recv ok 3000 bytes once
B > A ack psn=12 drop
+1ms A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10 drop; A > B send.middle psn=11 drop; A > B send.last psn=12 drop
+1ms A > B send.first psn=10 judged duplicate
B > A ack psn=12 msn=1
A completes send ok once
counter A timeouts 7
A > B send.middle psn=11
B > A ack psn=12
A > B send.last psn=12
B > A ack psn=12
+1s quiet
