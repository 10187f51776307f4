post A send 10 bytes as first
post A send 20 bytes as wrong
post A send 30 bytes as behind
A > B  send.only psn=10..12    drop
inject B > A nak.invalid psn=11 msn=1   judged nak_invalid
A completes send ok as first
A completes send remote_invalid_request as wrong
A completes send flushed as behind
A event failed remote_invalid_request; A event flushed
state A error
