# Depth 2: both places are taken by unsignaled sends; their ACK makes room, and nothing is shown.
config A sq 2
region B.r1 4096
post A write 10 to B.r1 unsignaled x2
post A write 10 to B.r1 refused full
view A sq_consumed 0
B busy
A > B  write.only psn=10..11
B idle
B > A  ack        psn=11 msn=2
view A sq_consumed 2
post A write 10 to B.r1
A > B  write.only psn=12
B > A  ack        psn=12
A completes write ok once
