post B recv 4096
inject A > B send.only psn=10 len=1028      judged length
B > A  nak.invalid psn=10
B event failed; B completes recv flushed; B event flushed
