# The second request's source is gone, but the first one is still good and completes as itself.
region A.r1 4096
post B recv 100
post A send 10 bytes as good
post A send 20 bytes in=A.r1 as held_back
A > B  send.only psn=10        copy again
A > B  send.only psn=11        drop
retire A.r1
B completes recv ok 10 bytes
B > A  ack       psn=10        hold ack
+100us A > B  send.only psn=10 drop
release ack
A completes send ok as good
A completes send local_protection as held_back; A event failed local_protection; A event flushed
release again                  judged duplicate
B > A  ack       psn=10        judged state
