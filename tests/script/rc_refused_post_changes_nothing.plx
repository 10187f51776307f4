config A sq 1 sq_sges 2 inline 64 initiator_depth 0
region B.r1 64
post A send 10 bytes sges=3           refused too_many_sges
post A send 300 bytes inline          refused too_long
post A read 10 from B.r1              refused invalid
post A fetch_add B.r1 add=1           refused invalid
post B recv 100 sges=17               refused too_many_sges
quiet
post A write 10 to B.r1
post A write 10 to B.r1               refused full
A > B  write.only psn=10
B > A  ack        psn=10
A completes write ok once
