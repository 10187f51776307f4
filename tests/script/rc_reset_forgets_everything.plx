# To RESET: no completions, no timer, no packet; and what is still on its way finds no QP to hurt (F9).
post A send 10 bytes
A > B  send.only psn=10     hold old
A wakes in 100us
modify A reset
A wakes never
+1s quiet
release old                 judged rnr
B > A  rnr psn=10           judged state
post A send 10 bytes        refused state
