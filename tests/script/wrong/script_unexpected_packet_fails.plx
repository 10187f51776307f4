# fails: :5: B sent, and no line until the end expects it: ack psn=10
post B recv 100
post A send 10 bytes
A > B  send.only psn=10
B completes recv ok 10 bytes
