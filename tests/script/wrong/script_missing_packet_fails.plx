# fails: :5: expected ack, but B sent nothing
post B recv 100
post A send 10 bytes
A > B  send.only psn=10 drop
B > A  ack psn=10
