# fails: :7: A has no completion to show
wire auto 1us
post B recv 10
post A send 10 bytes
run 1s
A completes send ok; B completes recv ok 10 bytes
A completes send ok
