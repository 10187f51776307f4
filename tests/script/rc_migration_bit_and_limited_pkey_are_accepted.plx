# MigReq of either value; a limited member's P_Key is as good when ours is a full one.
post B recv 100 x2
inject A > B send.only psn=10 len=12 mig=0            judged accept
B completes recv ok 12 bytes; B > A ack psn=10        judged ghost
inject A > B send.only psn=11 len=12 pkey=0x7fff      judged accept
B completes recv ok 12 bytes; B > A ack psn=11        judged ghost
