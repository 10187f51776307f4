# fails: :8: it is one
wire auto 2us
post B recv 100 as one
post B recv 100 as two
post A send 10 bytes x2
run 1s
A completes send ok x2
B completes recv ok 10 bytes as two
B completes recv ok 10 bytes as one
