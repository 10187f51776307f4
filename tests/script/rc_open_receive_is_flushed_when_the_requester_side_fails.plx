# A message is half received when our own requests run out of retries: its entry comes back, flushed, not ok.
config B retry 0
config A timeout 10ms
post B recv 4096 as open
post B recv 4096 as behind
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11        hold rest
A > B  send.last   psn=12        hold rest
post B send 10 bytes
B > A  send.only   psn=100       drop
+100us B completes send retry_exceeded; B event failed retry_exceeded
B completes recv flushed as open; B completes recv flushed as behind; B event flushed
release rest                     judged state
fail A
A event failed; A completes send flushed; A event flushed
