# One answer took 400 us: the next may take three times that before it is missed (RFC 6298, the first measurement).
config A timeout 10ms
config delay 200us
region B.r1 4096
post A write 10 to B.r1
A > B  write.only   psn=10
+200us B > A ack    psn=10
+200us A completes write ok
post A write 10 to B.r1
A wakes in 1200us
A > B  write.only   psn=11   drop
+1200us A > B write.only psn=11
+200us B > A ack    psn=11
+200us A completes write ok
