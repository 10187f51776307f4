# The answer begins anew with a PSN that was there before: the one that was asked for is lost again.
config mtu 256 delay 2us
region B.r1 4096
post A read 1280 from B.r1
A > B  read.req    psn=10
+2us   B > A  read.first  psn=10
B > A  read.middle psn=11       drop
B > A  read.middle psn=12
B > A  read.middle psn=13
B > A  read.last   psn=14
+2us   A > B  read.req psn=11 rlen=1024
+2us   B > A  read.first  psn=11   drop
B > A  read.middle psn=12
B > A  read.middle psn=13
B > A  read.last   psn=14
+2us   A > B  read.req psn=11 rlen=1024
+2us   B > A  read.first  psn=11
B > A  read.middle psn=12..13
B > A  read.last   psn=14
+2us   A completes read ok 1280 bytes once
view A retries_left 3
counter A go_backs 2
counter A verdict.lost_again 1
counter A verdict.nak_again 4
