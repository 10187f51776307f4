# A window of 9: the first time that it goes back 6 are left of it, then 4, and never fewer; with each packet that is
# acknowledged it gains one. The last of a window asks for its ACK.
config A window 9 timeout 10ms
config mtu 256 delay 2us
region B.r1 8192
post A write 256 to B.r1
A > B  write.only   psn=10
+2us  B > A  ack    psn=10
+2us  A completes write ok
post A write 5120 to B.r1
A > B  write.first  psn=11   drop
A > B  write.middle psn=12..19
+2us  B > A  nak.seq psn=11
+2us  A > B  write.first  psn=11   drop
A > B  write.middle psn=12..15
A > B  write.middle psn=16   ack=1
+2us  B > A  nak.seq psn=11
+2us  A > B  write.first  psn=11
A > B  write.middle psn=12..13
A > B  write.middle psn=14   ack=1
+2us  B > A  ack     psn=14
+2us  A > B  write.middle psn=15..21
A > B  write.middle psn=22   ack=1
+2us  B > A  ack     psn=22
+2us  A > B  write.middle psn=23..29
A > B  write.last   psn=30
+2us  B > A  ack     psn=30
+2us  A completes write ok
counter A requests_resent 15
counter A go_backs 2
