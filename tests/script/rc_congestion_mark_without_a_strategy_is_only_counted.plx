post B recv 100
post A send 10 bytes
A > B  send.only psn=10   ce
B > A  ack       psn=10
A completes send ok; B completes recv ok 10 bytes
counter B ce_marks 1
counter B cnps_sent 0
