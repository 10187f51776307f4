# A piece that begins where the one before it ends does not take its place, also when nothing of that has left yet. Another
# does: who asks for what was asked for before has gone back.
region B.r1 4096
config mtu 256
post A read 2048 from B.r1
A > B  read.req    psn=10 rlen=2048
B > A  read.first  psn=10
B > A  read.middle psn=11..16
B > A  read.last   psn=17
A completes read ok 2048 bytes once
B busy
inject A > B read.req psn=12 va=B.r1+512 rkey=B.r1 rlen=512    judged replay
inject A > B read.req psn=14 va=B.r1+1024 rkey=B.r1 rlen=768   judged replay
B idle
B > A  read.first  psn=12   judged stale
B > A  read.middle psn=13..15
B > A  read.last   psn=16
B busy
inject A > B read.req psn=12 va=B.r1+512 rkey=B.r1 rlen=512    judged replay
inject A > B read.req psn=13 va=B.r1+768 rkey=B.r1 rlen=256    judged replay
B idle
B > A  read.only   psn=13
