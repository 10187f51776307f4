config B enable remote_write,remote_read
region B.r1 64
word B.r1 5
post A fetch_add B.r1 add=1
A > B  fetch_add psn=10             judged disabled
B > A  nak.invalid psn=10
A completes fetch_add remote_invalid_request once; A event failed; A event flushed
B event failed; B event flushed
memory B.r1 word 5
