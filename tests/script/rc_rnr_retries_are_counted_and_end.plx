# rnr_retry 2: the first try and two more; the third RNR NAK is the last.
config A rnr_retry 2
post A send 100 bytes
A > B  send.only psn=10
B > A  rnr       psn=10
+10us A > B  send.only psn=10
B > A  rnr       psn=10
+10us A > B  send.only psn=10
B > A  rnr       psn=10
A completes send rnr_retry_exceeded once; A event failed rnr_retry_exceeded; A event flushed
state A error
+1s quiet
