# SQD: what has begun is finished, what has not waits; RTS goes on with it.
region B.r1 4096
post A write 100 to B.r1
A > B  write.only psn=10    hold it
modify A sqd
post A write 200 to B.r1+200
+1us quiet
release it
B > A  ack        psn=10
A completes write ok; A event sq_drained
state A sqd
+1us quiet
modify A rts
A > B  write.only psn=11
B > A  ack        psn=11
A completes write ok
