# Who had no receive for one message has none for those behind it. What is acknowledged widens the window again.
post A send 100 bytes x3
post A send 3000 bytes
B busy
A > B  send.only   psn=10..12
A > B  send.first  psn=13
A > B  send.middle psn=14
A > B  send.last   psn=15
B idle
B > A  rnr         psn=10
+10us  A > B send.only psn=10
B > A  rnr         psn=10
post B recv 4096 x4
+10us  A > B send.only psn=10
B > A  ack         psn=10
A > B  send.only   psn=11..12
B > A  ack         psn=11
B > A  ack         psn=12
A > B  send.first  psn=13
A > B  send.middle psn=14   ack=1
B > A  ack         psn=14
A > B  send.last   psn=15
B > A  ack         psn=15
A completes send ok x4
B completes recv ok 100 bytes x3; B completes recv ok 3000 bytes
counter A requests_resent 7
