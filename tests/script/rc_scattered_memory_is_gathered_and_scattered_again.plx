# Sixteen SGEs on one end, eleven on the other, lengths that match nowhere.
post B recv 3000 sges=11
post A send 2777 bytes sges=16
A > B  send.first  psn=10
A > B  send.middle psn=11
A > B  send.last   psn=12
B > A  ack         psn=12
A completes send ok once; B completes recv ok 2777 bytes once
