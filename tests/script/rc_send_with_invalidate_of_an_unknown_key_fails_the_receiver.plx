# Class J, a key that names nothing; after a first packet that was good.
config A retry 0
post B recv 4096
post A send 2000 bytes inv=0x12345678
A > B  send.first    psn=10     judged accept
A > B  send.last.inv psn=11     judged invalidate
B completes recv remote_invalid_request once; B event failed remote_invalid_request; B event flushed
+100us A completes send_inv retry_exceeded; A event failed; A event flushed
