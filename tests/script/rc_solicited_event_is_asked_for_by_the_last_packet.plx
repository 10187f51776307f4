post B recv 4096 x2
post A send 3000 bytes solicited
A > B  send.first  psn=10 se=0
A > B  send.middle psn=11 se=0
A > B  send.last   psn=12 se=1
B > A  ack         psn=12
A completes send ok; B completes recv ok 3000 bytes solicited once
region B.r1 4096
post A write 10 to B.r1 imm=1 solicited
A > B  write.only.imm psn=13 se=1
B > A  ack         psn=13
A completes write_imm ok; B completes recv ok 10 bytes imm=1 solicited once
