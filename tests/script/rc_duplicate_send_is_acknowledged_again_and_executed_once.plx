# reliability.md section 2: a duplicate SEND takes no second receive entry.
post B recv 4096 x2
post A send 100 bytes
A > B  send.only psn=10     copy again
B > A  ack       psn=10 msn=1
A completes send ok once; B completes recv ok 100 bytes once
release again               judged duplicate
B > A  ack       psn=10 msn=1   judged stale
counter B verdict.duplicate 1
post A send 200 bytes
A > B  send.only psn=11
B > A  ack       psn=11 msn=2
A completes send ok once; B completes recv ok 200 bytes once
view B psn_expected 12
