# RESET, and up again: PSN and MSN start anew, and what is left of the first life is not taken (F9).
post B recv 100
post A send 10 bytes
A > B  send.only psn=10          copy old
B > A  ack       psn=10 msn=1    copy old_ack
A completes send ok; B completes recv ok 10 bytes
post B recv 100
modify A reset; modify B reset
release old                      judged state
modify A init; modify B init
modify A rtr; modify B rtr
modify A rts; modify B rts
view B msn 0
release old_ack                  judged ghost
post A send 20 bytes
A > B  send.only psn=10          judged rnr
B > A  rnr       psn=10 msn=0
post B recv 100
+10us A > B  send.only psn=10
B > A  ack       psn=10 msn=1
A completes send ok; B completes recv ok 20 bytes
