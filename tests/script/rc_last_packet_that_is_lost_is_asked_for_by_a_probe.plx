# Nobody sends behind it, so no gap is seen. An answer is missed when it takes longer than answers take: the packet is sent
# again long before the ack timeout, and for no retry.
config A timeout 10ms retry 1
post B recv 4096 x2
post A send 10 bytes x2
A > B  send.only   psn=10
B > A  ack         psn=10
A > B  send.only   psn=11       drop
A completes send ok once; B completes recv ok 10 bytes
A wakes in 100us
+100us A > B  send.only psn=11 ack=1
B > A  ack         psn=11
A completes send ok once; B completes recv ok 10 bytes
counter A probes 1
counter A timeouts 0
view A retries_left 1
