post B recv 100
fail B
B event failed; B completes recv flushed; B event flushed
region B.r1 100
inject A > B send.only psn=10 len=10   judged state
inject A > B read.req psn=10 va=B.r1 rkey=B.r1 rlen=100   judged state
quiet
