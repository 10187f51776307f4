# The last packet brings more than the first one announced: not a byte of the excess is placed.
region B.r1 8192
inject A > B write.first psn=10 len=1024 va=B.r1 rkey=B.r1 rlen=1500
inject A > B write.last  psn=11 len=480     judged length
B > A  nak.invalid psn=11
B event failed; B event flushed
memory B.r1+1024 unchanged
