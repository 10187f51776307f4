region B.r1 8192
inject A > B read.req psn=10 va=B.r1 rkey=B.r1 rlen=0x80000001   judged length
B > A  nak.invalid psn=10
B event failed; B event flushed
