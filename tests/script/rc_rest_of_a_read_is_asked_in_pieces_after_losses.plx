# A window of 9 packets has become one of 6: so much of a READ is asked for again, and not all that is left of it. The
# next piece is asked for when half of the window is free, and once the window is what it was it is the rest.
config A window 9 timeout 10ms
config mtu 256 delay 2us
region B.r1 8192
post A read 5120 from B.r1
A > B  read.req    psn=10 rlen=5120
+2us  B > A  read.first  psn=10
B > A  read.middle psn=11       drop
B > A  read.middle psn=12..28
B > A  read.last   psn=29
+2us  A > B  read.req psn=11 rlen=1536
+2us  B > A  read.first  psn=11
B > A  read.middle psn=12..15
B > A  read.last   psn=16
+2us  A > B  read.req psn=17 rlen=1024
A > B  read.req psn=21 rlen=2304
+2us  B > A  read.first  psn=17
B > A  read.middle psn=18..19
B > A  read.last   psn=20
B > A  read.first  psn=21
B > A  read.middle psn=22..28
B > A  read.last   psn=29
+2us  A completes read ok 5120 bytes
counter A requests_resent 3
counter A go_backs 1
