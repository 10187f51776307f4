# What the simulator's shrinker writes: posts, faults and ends, no packet by name.
wire auto 2us
fault A > B 2 drop
fault B > A 1 drop
fault A > B 4 late 40us
fault A > B 5 flip 20
post B recv 4096
region B.r1 64
word B.r1 3
post A send 3000 bytes
post A fetch_add B.r1 add=4
run 5s
A completes send ok once
A completes fetch_add ok was=3 once
B completes recv ok 3000 bytes once
memory B.r1 word 7
