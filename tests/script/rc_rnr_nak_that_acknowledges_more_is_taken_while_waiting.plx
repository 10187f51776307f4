# The requester waits for a receive; a late RNR NAK of a later PSN acknowledges what came before that PSN.
config A rnr_retry 3
region B.r1 4096
post A write 10 to B.r1
post A send 10 bytes
A > B  write.only psn=10   hold w
inject B > A rnr psn=10 msn=0 timer=10    judged nak_rnr
view A rnr_waiting 1
A > B  send.only  psn=11   drop
inject B > A rnr psn=11 msn=1 timer=10
A completes write ok once
view A psn_unacked 11
fail A
A event failed; A completes send flushed; A event flushed
release w; B > A ack psn=10 judged state
