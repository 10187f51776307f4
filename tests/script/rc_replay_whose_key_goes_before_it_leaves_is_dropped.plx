# The READ was answered and done. Its late duplicate waits to be replayed when the peer itself, in the same burst,
# invalidates the key: nobody waits for that answer any more, and its loss is nobody's fault (found by tests/table).
region B.r1 4096 local_write remote_read invalidate
post B recv 100
post A read 100 from B.r1
A > B  read.req      psn=10         copy late
B > A  read.only     psn=10
A completes read ok 100 bytes
B busy
release late                        judged replay
post A send 10 bytes inv=B.r1
A > B  send.only.inv psn=11         judged accept
B completes recv ok 10 bytes inv=B.r1
B idle
B > A  ack           psn=11
A completes send_inv ok once
state B rts
