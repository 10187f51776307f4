# In SQD a post waits; nothing begins, so nothing drains anew.
modify A sqd
A event sq_drained
post A send 10 bytes
quiet
post B recv 100
modify A rts
A > B  send.only psn=10
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
modify A sqd
A event sq_drained
