# fails: :2: the post was not refused as expected, but: success
post A send 10 bytes refused full
