# fails: :7: it completes with SUCCESS
post B recv 100
post A send 10 bytes
A > B  send.only psn=10
B completes recv ok 10 bytes
B > A  ack psn=10
A completes send flushed
