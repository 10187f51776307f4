# The receive is taken by the last packet; the bytes may be there before, the completion not (F19).
region B.r1 4096
post A write 3000 to B.r1 imm=0x77
A > B  write.first    psn=10
A > B  write.middle   psn=11
A > B  write.last.imm psn=12 imm=0x77 judged rnr
B > A  rnr            psn=12
post B recv 0
+10us A > B  write.last.imm psn=12 imm=0x77
B > A  ack            psn=12 msn=1
A completes write_imm ok once; B completes recv ok 3000 bytes imm=0x77 once
