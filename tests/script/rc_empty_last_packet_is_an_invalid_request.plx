# A last packet carries 1 to MTU bytes.
post B recv 4096
inject A > B send.first psn=10 len=1024
inject A > B send.last  psn=11 len=0        judged length
B > A  nak.invalid psn=11
B event failed; B completes recv remote_invalid_request; B event flushed
