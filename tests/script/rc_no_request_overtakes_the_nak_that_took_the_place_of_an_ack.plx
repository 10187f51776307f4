# The ACK of a SEND is owed, then a NAK takes its place, then the gap closes with an atomic: something is owed
# still, and no request of B's may overtake what acknowledges the SEND (design decision 9; found by the simulator).
config mtu 256
region B.r1 4096
region B.r2 64
word B.r2 5
post B recv 100
post A recv 100
B busy
post A read 1000 from B.r1
post A send 10 bytes
post A fetch_add B.r2 add=1
post A write 10 to B.r2+8
A > B  read.req    psn=10
A > B  send.only   psn=14
B completes recv ok 10 bytes
post B send 20 bytes
A > B  fetch_add   psn=15         hold late
A > B  write.only  psn=16         judged ahead
release late                      judged accept
B idle
B > A  read.first  psn=10
B > A  read.middle psn=11..12
B > A  read.last   psn=13
A completes read ok 1000 bytes
B > A  atomic.ack  psn=15 was=5
A completes send ok; A completes fetch_add ok was=5
B > A  nak.seq     psn=16
B > A  send.only   psn=100
A > B  write.only  psn=16
A > B  ack         psn=100
A completes recv ok 20 bytes
B > A  ack         psn=16
B completes send ok; A completes write ok
