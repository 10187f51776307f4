region B.r1 64
post A read 8 from B.r1
A > B  read.req psn=10     drop
inject B > A read.only psn=10 len=8 msn=1 syndrome=0x60   judged syndrome
quiet
view A psn_unacked 10
+100us A > B  read.req psn=10
B > A  read.only psn=10
A completes read ok 8 bytes
