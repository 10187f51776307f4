# The timer has fired and the cursor gone back, but nothing has left yet when the ACK of everything comes in.
config A cc fake
region B.r1 4096
post A write 3000 to B.r1
A > B  write.first  psn=10
A > B  write.middle psn=11
A > B  write.last   psn=12
B > A  ack          psn=10
B > A  ack          psn=12   hold ack
A holds 200us
+100us quiet
counter A timeouts 1
view A psn_next 11
release ack
A completes write ok once
view A psn_next 13
+1s quiet
A wakes never
post A write 10 to B.r1
A > B  write.only   psn=13
B > A  ack          psn=13 msn=2
A completes write ok
