# Without a strategy, too: the peer may have one. A flow is told of congestion once in 50 us.
post B recv 100 x4
post A send 10 bytes
A > B  send.only psn=10   ce
B > A  cnp       becn=1 psn=0
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
post A send 10 bytes
A > B  send.only psn=11   ce
B > A  ack       psn=11
A completes send ok; B completes recv ok 10 bytes
+49.999us post A send 10 bytes
A > B  send.only psn=12   ce
B > A  ack       psn=12
A completes send ok; B completes recv ok 10 bytes
+1ns post A send 10 bytes
A > B  send.only psn=13   ce
B > A  cnp       becn=1 psn=0
B > A  ack       psn=13
A completes send ok; B completes recv ok 10 bytes
counter B ce_marks 4
counter B cnps_sent 2
counter A verdict.cnp 2
