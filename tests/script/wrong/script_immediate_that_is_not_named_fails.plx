# fails: :5: imm=, inv= or solicited is there and not named
post B recv 100
post A send 10 bytes imm=7
A > B  send.only.imm psn=10
B completes recv ok 10 bytes
