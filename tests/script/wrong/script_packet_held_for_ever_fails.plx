# fails: :3: packets are still held or on their way at the end
post A send 10 bytes
A > B  send.only psn=10 hold me
