region B.r1 4096 remote_read
post B recv 4096 in=B.r1
post A send 100 bytes
A > B  send.only     psn=10     judged recv_access
B > A  nak.operation psn=10
A completes send remote_operation once; A event failed; A event flushed
B completes recv local_protection once; B event failed; B event flushed
memory B.r1 unchanged
