# T13: every packet looks the key up again; what arrives after the retirement is not placed.
region B.r1 8192
post A write 4000 to B.r1 as W
A > B  write.first  psn=10
A > B  write.middle psn=11
retire B.r1
A > B  write.middle psn=12      judged access
B > A  nak.access   psn=12
A > B  write.last   psn=13      judged state
memory B.r1 holds W 2048
memory B.r1+2048 unchanged
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
