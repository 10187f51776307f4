post B recv 0
post A write 0 to 0x1000 rkey=0 imm=0x99
A > B  write.only.imm psn=10 len=0 imm=0x99
B > A  ack            psn=10
A completes write_imm ok once; B completes recv ok 0 bytes imm=0x99 once
