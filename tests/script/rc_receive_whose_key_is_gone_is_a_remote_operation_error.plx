# Class A: the responder's own mistake. The peer is told NAK remote operational; its bytes are not placed.
region B.r1 4096
post B recv 4096 in=B.r1
retire B.r1
post A send 100 bytes
A > B  send.only     psn=10     judged recv_access
B > A  nak.operation psn=10     judged nak_operation
A completes send remote_operation once; A event failed remote_operation; A event flushed
B completes recv local_protection once; B event failed local_protection; B event flushed
memory B.r1 unchanged
