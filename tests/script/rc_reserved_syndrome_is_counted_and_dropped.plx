# NAK codes 4 to 31, and the types 01 with bit 7 and 10: IBTA reserves them.
post A send 10 bytes
A > B  send.only psn=10   drop
inject B > A aeth psn=10 syndrome=0x65 msn=1    judged syndrome
inject B > A aeth psn=10 syndrome=0x7f msn=1    judged syndrome
inject B > A aeth psn=10 syndrome=0x45 msn=1    judged syndrome
quiet
fail A
A event failed; A completes send flushed; A event flushed
