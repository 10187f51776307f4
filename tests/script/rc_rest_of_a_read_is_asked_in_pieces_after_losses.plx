# Losses have made less than half of a window of 10 packets: 7, 5, then 4. So many of a READ are asked for again, and not all that is
# left of it; the next piece when that has come, and the rest once the window is its half again.
config A window 10 timeout 10ms
config mtu 256 delay 2us
region B.r1 8192
post A read 5120 from B.r1
A > B  read.req    psn=10 rlen=5120
+2us  B > A  read.first  psn=10
B > A  read.middle psn=11       drop
B > A  read.middle psn=12..28
B > A  read.last   psn=29
+2us  A > B  read.req psn=11 rlen=4864
+2us  B > A  read.first  psn=11 drop
B > A  read.middle psn=12..28
B > A  read.last   psn=29
+2us  A > B  read.req psn=11 rlen=4864
+2us  B > A  read.first  psn=11 drop
B > A  read.middle psn=12..28
B > A  read.last   psn=29
+2us  A > B  read.req psn=11 rlen=1024
+2us  B > A  read.first  psn=11
B > A  read.middle psn=12..13
B > A  read.last   psn=14
+2us  A > B  read.req psn=15 rlen=3840
+2us  B > A  read.first  psn=15
B > A  read.middle psn=16..28
B > A  read.last   psn=29
+2us  A completes read ok 5120 bytes
counter A go_backs 3
