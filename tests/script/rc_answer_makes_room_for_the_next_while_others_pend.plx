# The place of a READ that is answered goes to the next one; those that still wait are answered first.
config A initiator_depth 2
config B responder_resources 2
config B budget 1
region B.r1 4096
post A read 10 from B.r1
post A read 20 from B.r1+10
post A read 30 from B.r1+30
B busy
A > B  read.req   psn=10
A > B  read.req   psn=11
B once
B > A  read.only  psn=10 len=10
A > B  read.req   psn=12
B idle
B > A  read.only  psn=11 len=20
B > A  read.only  psn=12 len=30
A completes read ok 10 bytes; A completes read ok 20 bytes; A completes read ok 30 bytes
