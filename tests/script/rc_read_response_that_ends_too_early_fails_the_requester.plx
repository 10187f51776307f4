region B.r1 4096
region A.r1 4096
post A read 3000 from B.r1 in=A.r1
A > B  read.req   psn=10           drop
inject B > A read.only psn=10 len=1024 msn=1    judged response_bad
A completes read bad_response once; A event failed; A event flushed
memory A.r1 unchanged
