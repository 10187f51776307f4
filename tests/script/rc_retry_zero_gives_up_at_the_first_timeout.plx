config A retry 0
post A send 100 bytes
A > B  send.only psn=10 drop
+100us A completes send retry_exceeded once; A event failed retry_exceeded; A event flushed
