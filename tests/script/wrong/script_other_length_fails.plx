# fails: :5: it is 10 bytes
post B recv 100
post A send 10 bytes
A > B  send.only psn=10
B completes recv ok 11 bytes
