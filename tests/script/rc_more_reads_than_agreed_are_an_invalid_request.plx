# The responder owes as many READs as it has resources; the next one is more than the peer may have open.
config B responder_resources 2
region B.r1 4096
B busy
inject A > B read.req psn=10 va=B.r1 rkey=B.r1 rlen=100   judged accept
inject A > B read.req psn=11 va=B.r1 rkey=B.r1 rlen=100   judged accept
inject A > B read.req psn=12 va=B.r1 rkey=B.r1 rlen=100   judged too_many_reads
B idle
B > A  read.only   psn=10   drop
B > A  read.only   psn=11   drop
B > A  nak.invalid psn=12   drop
B event failed; B event flushed
