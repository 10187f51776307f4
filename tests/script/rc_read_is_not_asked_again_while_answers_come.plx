# After one lost response the rest is asked for once; the answers to the first request come slowly, in a time in which a
# silent peer would have been asked twice, and put the question off.
config A timeout 10ms
config mtu 1024
region B.r1 8192
post A read 10 from B.r1
A > B  read.req    psn=10
B > A  read.only   psn=10
A completes read ok 10 bytes
post A read 8192 from B.r1
A > B  read.req    psn=11
B > A  read.first  psn=11
B > A  read.middle psn=12       drop
B > A  read.middle psn=13       judged response_lost
B > A  read.middle psn=14..15   late 90us
B > A  read.middle psn=16..17   late 110us
B > A  read.last   psn=18       late 130us
A > B  read.req    psn=12 rlen=7168     drop
+154.999us quiet
counter A verdict.nak_again 5
counter A probes 0
+1ns   A > B  read.req psn=12 rlen=7168
B > A  read.first  psn=12
B > A  read.middle psn=13..17
B > A  read.last   psn=18
A completes read ok 8192 bytes
counter A probes 1
view A retries_left 3
