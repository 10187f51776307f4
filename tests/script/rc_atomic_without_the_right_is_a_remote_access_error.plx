region B.r1 64 local_write remote_write remote_read
post A fetch_add B.r1 add=1
A > B  fetch_add  psn=10            judged access
B > A  nak.access psn=10
A completes fetch_add remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
