# IBTA vol 1, 9.7.4: first and middle packets are as long as the path MTU.
region B.r1 8192
inject A > B write.first  psn=10 len=1024 va=B.r1 rkey=B.r1 rlen=3000
inject A > B write.middle psn=11 len=1020   judged length
B > A  nak.invalid psn=11
B event failed; B event flushed
state B error
memory B.r1 forged 1024
memory B.r1+1024 unchanged
