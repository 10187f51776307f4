# The deadline is a timeout behind the last acknowledgement, not behind the first packet.
post B recv 100 x2
post A send 10 bytes x2
A > B  send.only psn=10
B > A  ack       psn=10          hold first
A > B  send.only psn=11          drop
B completes recv ok 10 bytes
+90us release first
A completes send ok
A wakes in 100us
+99.999us quiet
+1ns A > B  send.only psn=11
B > A  ack       psn=11
A completes send ok; B completes recv ok 10 bytes
