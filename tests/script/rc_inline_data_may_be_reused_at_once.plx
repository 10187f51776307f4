# The runner overwrites an inline source as soon as it is posted: what arrives, twice, is what was posted.
post B recv 100
post A send 64 bytes inline
A > B  send.only psn=10 len=64   drop
+100us A > B  send.only psn=10 len=64
B > A  ack       psn=10
A completes send ok; B completes recv ok 64 bytes once
