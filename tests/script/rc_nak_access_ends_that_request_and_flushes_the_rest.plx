post A send 10 bytes as first
post A send 20 bytes as wrong
post A send 30 bytes as behind
A > B  send.only psn=10..12    drop
inject B > A nak.access psn=11 msn=1    judged nak_access
A completes send ok as first
A completes send remote_access as wrong
A completes send flushed as behind
A event failed remote_access; A event flushed
