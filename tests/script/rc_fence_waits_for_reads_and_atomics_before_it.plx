region B.r1 4096
region B.r2 4096
post A read 100 from B.r1
post A write 100 to B.r2
post A write 100 to B.r2+200 fence
A > B  read.req   psn=10
A > B  write.only psn=11
B > A  read.only  psn=10         hold answer
B > A  ack        psn=11         hold ack
+10us quiet
release answer
A completes read ok 100 bytes
A > B  write.only psn=12
release ack
A completes write ok
B > A  ack        psn=12
A completes write ok
counter A fence_stalls 1
