# F8: retry 3 is the first try and three more, each with its timeout; then an error, and not before.
config A retry 3 timeout 100us
post A send 100 bytes
post A send 200 bytes
A > B  send.only psn=10..11 drop
+100us A > B  send.only psn=10..11 drop
+100us A > B  send.only psn=10..11 drop
+100us A > B  send.only psn=10..11 drop
+99.999us quiet
+1ns A completes send retry_exceeded once
A completes send flushed once; A event failed retry_exceeded; A event flushed
counter A timeouts 4
state A error
+10s quiet
