# Class C: First, Middle and Last out of order. NAK invalid request, and the QP is in error.
post B recv 4096
inject A > B send.middle psn=10 len=1024   judged sequence
B > A  nak.invalid psn=10
B event failed remote_invalid_request
B completes recv flushed once; B event flushed
state B error
