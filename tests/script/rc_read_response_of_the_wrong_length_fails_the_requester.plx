# Local length error. Not a byte of it is placed where it does not belong.
region B.r1 4096
region A.r1 4096
post A read 3000 from B.r1 in=A.r1
A > B  read.req   psn=10           drop
inject B > A read.first psn=10 len=1020 msn=1   judged response_bad
A completes read local_length once; A event failed local_length; A event flushed
memory A.r1 unchanged
state A error
