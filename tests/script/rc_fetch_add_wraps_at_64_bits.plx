region B.r1 64
word B.r1 0xffffffffffffffff
post A fetch_add B.r1 add=2
A > B  fetch_add  psn=10
B > A  atomic.ack psn=10 was=0xffffffffffffffff
A completes fetch_add ok was=0xffffffffffffffff
memory B.r1 word 1
