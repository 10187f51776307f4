config B enable remote_write
region B.r1 4096
post A read 100 from B.r1
A > B  read.req psn=10              judged disabled
B > A  nak.invalid psn=10
A completes read remote_invalid_request once; A event failed; A event flushed
B event failed; B event flushed
