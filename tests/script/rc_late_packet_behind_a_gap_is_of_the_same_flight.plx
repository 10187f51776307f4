# Behind the gap they arrive out of order: 14, 13, 15. Only one at or before 13 would begin another flight, had 13 been the first.
config mtu 256
post B recv 4096
post A send 1280 bytes
A > B  send.first  psn=10
A > B  send.middle psn=11       drop
A > B  send.middle psn=12       judged ahead
B > A  nak.seq     psn=11       hold nak
A > B  send.middle psn=13       hold late
A > B  send.last   psn=14       judged ahead_again
release late                    judged ahead_again
release nak
A > B  send.middle psn=11..13
A > B  send.last   psn=14
B > A  ack         psn=14 msn=1
A completes send ok; B completes recv ok 1280 bytes
counter B naks_sent 1
