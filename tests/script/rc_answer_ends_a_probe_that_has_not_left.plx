# The time to ask has come, nothing could leave yet, and the ACK is there: nothing is asked.
config A timeout 10ms
region B.r1 4096
post A write 10 to B.r1
A > B  write.only   psn=10
B > A  ack          psn=10
A completes write ok
post A write 10 to B.r1
A > B  write.only   psn=11
B > A  ack          psn=11   hold ack
A busy
+100us quiet
release ack
A idle
A completes write ok
quiet
