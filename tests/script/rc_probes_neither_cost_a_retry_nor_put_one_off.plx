# Each question waits twice as long as the one before, until the ack timeout is over: then it is a retry, at the time agreed.
config A timeout 1ms retry 1
post B recv 100
post A send 10 bytes x2
A > B  send.only   psn=10
B > A  ack         psn=10
A completes send ok; B completes recv ok 10 bytes
A > B  send.only   psn=11       drop
+100us A > B  send.only psn=11  drop
+200us A > B  send.only psn=11  drop
+400us A > B  send.only psn=11  drop
view A retries_left 1
+299.999us quiet
+1ns   A > B  send.only psn=11  drop
view A retries_left 0
counter A timeouts 1
+800us A > B  send.only psn=11  drop
+199.999us quiet
+1ns   A completes send retry_exceeded once; A event failed retry_exceeded; A event flushed
counter A probes 4
