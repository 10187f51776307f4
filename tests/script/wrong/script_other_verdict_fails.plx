# fails: :3: expected the verdict duplicate, it was RNR
post A send 10 bytes
A > B  send.only psn=10 judged duplicate
