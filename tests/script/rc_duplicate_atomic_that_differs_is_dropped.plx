# Class D: neither executed nor answered.
region B.r1 64
word B.r1+8 40
post A fetch_add B.r1+8 add=2
A > B  fetch_add  psn=10
B > A  atomic.ack psn=10
A completes fetch_add ok was=40
inject A > B fetch_add psn=10 va=B.r1+8 rkey=B.r1 add=3               judged duplicate_forgotten
inject A > B fetch_add psn=10 va=B.r1+16 rkey=B.r1 add=2              judged duplicate_forgotten
inject A > B cmp_swap  psn=10 va=B.r1+8 rkey=B.r1 compare=42 swap=2   judged duplicate_forgotten
quiet
memory B.r1+8 word 42
