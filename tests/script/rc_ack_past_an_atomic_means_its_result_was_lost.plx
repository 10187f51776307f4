region B.r1 64
word B.r1 5
post A fetch_add B.r1 add=1
post A write 8 to B.r1+8
A > B  fetch_add   psn=10
B > A  atomic.ack  psn=10 was=5    drop
A > B  write.only  psn=11
B > A  ack         psn=11          judged response_lost
A > B  fetch_add   psn=10          judged replay
B > A  atomic.ack  psn=10 was=5
A completes fetch_add ok was=5 once
A > B  write.only  psn=11          judged duplicate
B > A  ack         psn=11
A completes write ok once
memory B.r1 word 6
