# design.md section 4: we send 31, "no credits in use"; a count from the peer is an ACK like any other.
post A send 10 bytes
A > B  send.only psn=10   drop
inject B > A ack psn=10 msn=1 syndrome=0x05   judged acked
A completes send ok
