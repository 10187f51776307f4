# IBTA vol 1, 9.7.5.2.8 table 45: code 1 is 10 us. Not a nanosecond before; and from the same PSN (F19).
config B rnr_timer 1
post A send 3000 bytes
A > B  send.first  psn=10                judged rnr
B > A  rnr         psn=10 timer=1 msn=0  judged nak_rnr
A > B  send.middle psn=11                drop
A > B  send.last   psn=12                drop
view A rnr_waiting 1
A wakes in 10us
post B recv 4096
+9.999us quiet
+1ns A > B  send.first psn=10            judged accept
B > A  ack         psn=10 msn=0
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12 msn=1
A completes send ok once; B completes recv ok 3000 bytes once
counter A rnr_waits 1
