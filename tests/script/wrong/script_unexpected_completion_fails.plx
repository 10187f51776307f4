# fails: :6: no line until the end expects: A completes  send SUCCESS
post B recv 100
post A send 10 bytes
A > B  send.only psn=10
B completes recv ok 10 bytes
B > A  ack psn=10
