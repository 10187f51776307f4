# Outside [oldest unacknowledged, next unsent): counted and dropped, whoever made it up (T5).
post B recv 4096
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11
inject B > A ack psn=13 msn=1          judged ghost
inject B > A nak.seq psn=14 msn=1      judged ghost
inject B > A nak.access psn=13 msn=1   judged ghost
inject B > A rnr psn=20 msn=1 timer=3  judged ghost
A > B  send.last   psn=12
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes
counter A verdict.ghost 4
