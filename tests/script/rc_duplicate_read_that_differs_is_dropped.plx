# Class D: a duplicate that asks for what the remembered READ never covered gets no answer at all.
region B.r1 4096
region B.r2 4096
post A read 1000 from B.r1+1000
A > B  read.req  psn=10
B > A  read.only psn=10
A completes read ok 1000 bytes
inject A > B read.req psn=10 va=B.r1+999 rkey=B.r1 rlen=1000    judged duplicate_forgotten
inject A > B read.req psn=10 va=B.r1+1000 rkey=B.r1 rlen=1001   judged duplicate_forgotten
inject A > B read.req psn=10 va=B.r1+1000 rkey=B.r2 rlen=1000   judged duplicate_forgotten
quiet
state B rts
