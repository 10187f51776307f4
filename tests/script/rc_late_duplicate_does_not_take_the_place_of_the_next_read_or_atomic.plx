# responder_resources 1: the answer of the first one has been seen, so its late duplicate, replayed but not sent yet,
# is nobody's any more when the next one comes. It must not count as one too many (found by the simulator).
config responder_resources 1 initiator_depth 1
region B.r1 64
word B.r1 5
word B.r1+8 7
post A fetch_add B.r1 add=1
A > B  fetch_add  psn=10          copy late
B > A  atomic.ack psn=10 was=5
A completes fetch_add ok was=5 once
B busy
release late                      judged replay
post A fetch_add B.r1+8 add=1
A > B  fetch_add  psn=11          judged accept
B idle
B > A  atomic.ack psn=11 was=7
A completes fetch_add ok was=7 once
memory B.r1 word 6
memory B.r1+8 word 8
state B rts
