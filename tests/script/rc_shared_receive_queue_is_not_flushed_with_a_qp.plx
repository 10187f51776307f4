# Only the entry a message holds is the QP's; the others belong to whoever comes next.
config B srq 8
post B recv 4096 as open
post B recv 4096 as free
inject A > B send.first psn=10 len=1024
fail B
B event failed
B completes recv flushed as open
B event flushed
+1s quiet
