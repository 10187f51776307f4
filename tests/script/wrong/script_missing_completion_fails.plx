# fails: :6: A has no completion to show
post B recv 100
post A send 10 bytes
A > B  send.only psn=10
B > A  ack psn=10 drop
A completes send ok
