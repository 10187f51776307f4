config B enable remote_read
region B.r1 4096
post A write 100 to B.r1
A > B  write.only psn=10            judged disabled
B > A  nak.invalid psn=10           judged nak_invalid
A completes write remote_invalid_request once; A event failed remote_invalid_request; A event flushed
B event failed; B event flushed
memory B.r1 unchanged
