# fails: :4: A sent, and no line before the time goes on expects it: send.only psn=10
post A send 10 bytes
A > B  send.only psn=10 drop
+200us A > B  send.only psn=10
