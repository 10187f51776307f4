# Class G, a completion queue that overran: no further reply; the requester finds out by its timer.
config A retry 0
post B recv 4096
fail B
B event failed; B completes recv flushed once; B event flushed
post A send 100 bytes
A > B  send.only psn=10         judged state
+100us A completes send retry_exceeded once; A event failed retry_exceeded; A event flushed
