# Executed over there; here the application has taken its memory back.
region A.r1 64
region B.r1 64
word B.r1 5
post A fetch_add B.r1 add=1 in=A.r1
A > B  fetch_add  psn=10
retire A.r1
B > A  atomic.ack psn=10         judged response_denied
A completes fetch_add local_protection once; A event failed local_protection; A event flushed
memory B.r1 word 6
