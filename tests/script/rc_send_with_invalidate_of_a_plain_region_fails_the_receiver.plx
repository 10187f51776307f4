# Class J: a key that may not be invalidated. The receive ends in error, no reply, and the key stays good.
config A retry 0
region B.r1 4096
post B recv 4096
post A send 10 bytes inv=B.r1
A > B  send.only.inv psn=10     judged invalidate
B completes recv remote_invalid_request once; B event failed remote_invalid_request; B event flushed
state B error
key B.r1 is granted
+100us A completes send_inv retry_exceeded; A event failed; A event flushed
