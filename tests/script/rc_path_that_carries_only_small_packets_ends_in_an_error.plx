# F24: the path's MTU is smaller than ours: what is full-sized is lost for ever, and the QP says so in time. That the flight
# begins anew is told PLX_RESTARTS_MAX times and then not any more.
config A retry 1
post B recv 4096 x2
post A send 10 bytes
A > B  send.only   psn=10
B > A  ack         psn=10
A completes send ok; B completes recv ok 10 bytes
post A send 1500 bytes
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead
B > A  nak.seq     psn=11
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead
B > A  nak.seq     psn=11          judged lost_again
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead
B > A  nak.seq     psn=11          judged lost_again
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead
B > A  nak.seq     psn=11          judged lost_again
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead
B > A  nak.seq     psn=11          judged lost_again
A > B  send.first  psn=11          drop
A > B  send.last   psn=12          judged ahead_again
+100us A completes send retry_exceeded once; A event failed retry_exceeded; A event flushed
counter A go_backs 5
