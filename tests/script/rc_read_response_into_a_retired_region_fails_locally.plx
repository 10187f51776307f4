# T13 on our side: the key of the destination is looked up with every response.
region B.r1 4096
region A.r1 4096
post A read 3000 from B.r1 in=A.r1
A > B  read.req    psn=10
B > A  read.first  psn=10
retire A.r1
B > A  read.middle psn=11          judged response_denied
B > A  read.last   psn=12          judged state
A completes read local_protection once; A event failed local_protection; A event flushed
memory A.r1+1024 unchanged
