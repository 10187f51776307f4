# The strategy decides; the CNP is the one packet that may leave beside a reply (I11).
config B cc fake
post B recv 100
post A send 10 bytes
A > B  send.only psn=10   ce
B > A  cnp       becn=1 psn=0
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
counter B ce_marks 1
counter B cnps_sent 1
B strategy marked=1
