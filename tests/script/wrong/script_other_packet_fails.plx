# fails: :3: expected send.first, saw: send.only psn=10
post A send 10 bytes
A > B  send.first psn=10
