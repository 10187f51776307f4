# IBTA vol 1, 9.7.7: one for each request completed, a READ with its request, an atomic with its execution.
region B.r1 8192
region B.r2 4096
post B recv 4096
post A write 5000 to B.r1
A > B  write.first  psn=10
A > B  write.middle psn=11..13
A > B  write.last   psn=14
B > A  ack          psn=14 msn=1
A completes write ok
post A read 100 from B.r2
A > B  read.req     psn=15
B > A  read.only    psn=15 msn=2
A completes read ok
post A fetch_add B.r2 add=1
A > B  fetch_add    psn=16
B > A  atomic.ack   psn=16 msn=3
A completes fetch_add ok
post A send 10 bytes
A > B  send.only    psn=17
B > A  ack          psn=17 msn=4
A completes send ok; B completes recv ok 10 bytes
view B msn 4
