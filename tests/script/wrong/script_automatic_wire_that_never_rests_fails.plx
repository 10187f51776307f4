# fails: :4: the two ends do not come to rest in time
wire auto 1us
post A send 10 bytes
run 10us
