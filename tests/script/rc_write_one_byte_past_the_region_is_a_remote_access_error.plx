# T10. The whole range is judged with the first packet: nothing is placed.
region B.r1 4096
post A write 3000 to B.r1+1097
A > B  write.first  psn=10          judged access
B > A  nak.access   psn=10
A > B  write.middle psn=11          judged state
A > B  write.last   psn=12          judged state
A completes write remote_access; A event failed; A event flushed; B event failed; B event flushed
memory B.r1 unchanged
