post B recv 4096 as open
inject A > B send.first psn=10 len=1024
modify B error
B completes recv flushed as open once; B event flushed
