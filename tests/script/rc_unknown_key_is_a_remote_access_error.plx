region B.r1 4096
post A write 100 to 0x1000 rkey=0x12345678
A > B  write.only psn=10            judged access
B > A  nak.access psn=10            judged nak_access
A completes write remote_access once; A event failed remote_access; A event flushed
B event failed remote_access; B event flushed
state A error; state B error
memory B.r1 unchanged
