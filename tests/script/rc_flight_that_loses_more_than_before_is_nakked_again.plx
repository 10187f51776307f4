# Twenty packets arrive behind the gap; of those sent again the first three are lost. The next is so far behind the newest
# that it cannot be one that is late.
config mtu 256 window 256 ack_interval 256
region B.r1 8192
post A write 10 to B.r1
A > B  write.only   psn=10
B > A  ack          psn=10
A completes write ok
post A write 5888 to B.r1
A > B  write.first  psn=11      drop
A > B  write.middle psn=12      judged ahead
A > B  write.middle psn=13..32  judged ahead_again
B > A  nak.seq      psn=11
A > B  write.last   psn=33      judged ahead_again
A > B  write.first  psn=11      drop
A > B  write.middle psn=12..15  drop
A > B  write.middle psn=16      judged ahead
A > B  write.middle psn=17..32  judged ahead_again
B > A  nak.seq      psn=11      judged lost_again
A > B  write.last   psn=33      judged ahead_again
A > B  write.first  psn=11
A > B  write.middle psn=12..32
A > B  write.last   psn=33
B > A  ack          psn=33
A completes write ok
counter A timeouts 0
