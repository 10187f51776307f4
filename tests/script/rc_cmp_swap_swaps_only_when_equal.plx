region B.r1 64
word B.r1 7
post A cmp_swap B.r1 compare=7 swap=9
A > B  cmp_swap   psn=10 va=B.r1 compare=7 swap=9
B > A  atomic.ack psn=10 was=7 msn=1
A completes cmp_swap ok 8 bytes was=7
memory B.r1 word 9
post A cmp_swap B.r1 compare=7 swap=11
A > B  cmp_swap   psn=11 compare=7 swap=11
B > A  atomic.ack psn=11 was=9 msn=2
A completes cmp_swap ok was=9
memory B.r1 word 9
