# A duplicate NAK must not make the requester send everything twice (T5: amplification at most 1).
region B.r1 4096
post A write 3000 to B.r1
A > B  write.first  psn=10     drop
A > B  write.middle psn=11     judged ahead
B > A  nak.seq      psn=10     dup
A > B  write.last   psn=12     drop
A > B  write.first  psn=10
A > B  write.middle psn=11
A > B  write.last   psn=12
B > A  ack          psn=12
A completes write ok
counter A go_backs 1
counter A verdict.nak_again 1
