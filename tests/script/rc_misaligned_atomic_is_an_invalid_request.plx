region B.r1 64
inject A > B fetch_add psn=10 va=B.r1+4 rkey=B.r1 add=1   judged misaligned
B > A  nak.invalid psn=10
B event failed; B event flushed
memory B.r1 unchanged
