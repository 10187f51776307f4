# Under `wire auto` a send's completion may be named before a receive's that came earlier, and the reverse.
wire auto 2us
post B recv 100
post A recv 100
post A send 10 bytes
post B send 20 bytes
run 1s
A completes send ok; A completes recv ok 20 bytes
B completes send ok; B completes recv ok 10 bytes
