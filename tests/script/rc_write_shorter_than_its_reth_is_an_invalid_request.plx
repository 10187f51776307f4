region B.r1 8192
inject A > B write.only psn=10 len=100 va=B.r1 rkey=B.r1 rlen=104   judged length
B > A  nak.invalid psn=10
B event failed; B event flushed
memory B.r1 unchanged
