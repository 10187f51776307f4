# The receive that was open ends in error, before the ones behind it are flushed.
post B recv 4096 as open
post B recv 4096 as behind
post A send 3000 bytes
A > B  send.first  psn=10
inject A > B send.only psn=11 len=100      judged sequence
B > A  nak.invalid psn=11                  drop
B event failed
B completes recv remote_invalid_request as open
B completes recv flushed as behind
B event flushed
state B error
A > B  send.middle psn=11                  judged state
A > B  send.last   psn=12                  judged state
fail A
A event failed; A completes send flushed; A event flushed
