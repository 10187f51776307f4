# A peer that keeps to the letter is silent about the second loss of the same packet; so is ours when its second NAK is lost.
config A timeout 10ms
region B.r1 8192
post A write 10 to B.r1
A > B  write.only   psn=10
B > A  ack          psn=10
A completes write ok
post A write 3000 to B.r1
A > B  write.first  psn=11      drop
A > B  write.middle psn=12
B > A  nak.seq      psn=11
A > B  write.last   psn=13
A > B  write.first  psn=11      drop
A > B  write.middle psn=12      judged ahead
B > A  nak.seq      psn=11      drop
A > B  write.last   psn=13
+100us A > B  write.first psn=11  judged accept
B > A  ack          psn=11
A > B  write.last   psn=13      judged ahead
B > A  nak.seq      psn=12      judged nak_sequence
A > B  write.middle psn=12
A > B  write.last   psn=13
B > A  ack          psn=13
A completes write ok
counter A timeouts 0
