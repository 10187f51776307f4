# fails: :3: the post was refused: the queue or table has no free entry
config A sq 1
post A send 10 bytes x2
