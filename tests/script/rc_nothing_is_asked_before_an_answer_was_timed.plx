# How long answers take is not known yet: the ack timeout is all there is.
config A timeout 10ms
region B.r1 4096
post A write 10 to B.r1
A > B  write.only   psn=10   drop
+9.999999ms quiet
+1ns   A > B  write.only psn=10
B > A  ack          psn=10
A completes write ok
counter A probes 0
