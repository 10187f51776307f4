config A timeout 10ms
region B.r1 4096
post A write 10 to B.r1 x2
A > B  write.only  psn=10
B > A  ack         psn=10
A > B  write.only  psn=11
A completes write ok
B > A  ack         psn=11   drop
+100us A > B  write.only psn=11   judged duplicate
B > A  ack         psn=11
A completes write ok once
counter A timeouts 0
