# Depth 2 and seven messages: an index that wrapped wrongly would lose or repeat one.
config A sq 2
config B rq 2
post B recv 100; post A send 10 bytes; A > B send.only psn=10; B > A ack psn=10; A completes send ok; B completes recv ok 10 bytes
post B recv 100; post A send 11 bytes; A > B send.only psn=11; B > A ack psn=11; A completes send ok; B completes recv ok 11 bytes
post B recv 100; post A send 12 bytes; A > B send.only psn=12; B > A ack psn=12; A completes send ok; B completes recv ok 12 bytes
post B recv 100; post A send 13 bytes; A > B send.only psn=13; B > A ack psn=13; A completes send ok; B completes recv ok 13 bytes
post B recv 100; post A send 14 bytes; A > B send.only psn=14; B > A ack psn=14; A completes send ok; B completes recv ok 14 bytes
post B recv 100 x2
post A send 15 bytes x2
A > B send.only psn=15; B > A ack psn=15; A > B send.only psn=16; B > A ack psn=16
A completes send ok x2; B completes recv ok 15 bytes x2
view A sq_posted 7
view A sq_consumed 7
