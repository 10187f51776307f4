config A cc fake
region B.r1 4096
A holds 10us
post A write 100 to B.r1
A wakes in 10us
+9.999us quiet
+1ns A > B  write.only psn=10
B > A  ack  psn=10
A completes write ok
counter A pace_stalls 1
