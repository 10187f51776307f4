# Class C: the packet that does not fit is not placed.
post B recv 2000
post A send 3000 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11       judged recv_length
B > A  nak.invalid psn=11
A > B  send.last   psn=12       judged state
A completes send remote_invalid_request once; A event failed; A event flushed
B completes recv local_length once; B event failed local_length; B event flushed
