config A retry 0
post A send 10 bytes unsignaled as one
post A send 20 bytes unsignaled as two
A > B  send.only psn=10..11 drop
+100us A completes send retry_exceeded as one; A completes send flushed as two
A event failed; A event flushed
