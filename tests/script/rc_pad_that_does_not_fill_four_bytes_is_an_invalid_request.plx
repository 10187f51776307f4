# Every packet is a multiple of four bytes; one that is not was made by nobody honest.
post B recv 100
inject A > B send.only psn=10 len=5 pad=0   judged length
B > A  nak.invalid psn=10
B event failed; B completes recv flushed; B event flushed
