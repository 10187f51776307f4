# fails: :3: expected psn=11 (0xb), saw psn=10 (0xa)
post A send 10 bytes
A > B  send.only psn=11
