# reliability.md F2: executed once; the stored result goes out again.
region B.r1 64
word B.r1+8 40
post A fetch_add B.r1+8 add=2
A > B  fetch_add  psn=10 va=B.r1+8 add=2 rkey=B.r1
B > A  atomic.ack psn=10 was=40 msn=1    drop
memory B.r1+8 word 42
+100us A > B  fetch_add psn=10           judged replay
B > A  atomic.ack psn=10 was=40 msn=1
A completes fetch_add ok 8 bytes was=40 once
memory B.r1+8 word 42
