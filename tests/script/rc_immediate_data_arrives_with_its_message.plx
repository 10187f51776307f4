post B recv 4096 x2
post A send 10 bytes imm=0xdeadbeef
A > B  send.only.imm psn=10 imm=0xdeadbeef
B > A  ack           psn=10
A completes send_imm ok; B completes recv ok 10 bytes imm=0xdeadbeef once
post A send 2000 bytes imm=0x01020304
A > B  send.first    psn=11
A > B  send.last.imm psn=12 imm=0x01020304
B > A  ack           psn=12
A completes send_imm ok; B completes recv ok 2000 bytes imm=0x01020304 once
