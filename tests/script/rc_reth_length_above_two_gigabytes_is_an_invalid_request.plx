# IBTA vol 1, 9.7.7: a message is at most 2^31 bytes.
region B.r1 8192
inject A > B write.first psn=10 len=1024 va=B.r1 rkey=B.r1 rlen=0x80000001   judged length
B > A  nak.invalid psn=10
B event failed; B event flushed
memory B.r1 unchanged
