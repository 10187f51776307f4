post B recv 100
inject A > B send.only psn=10 len=10 qpn=0x0c   judged no_qp
inject A > B send.only psn=10 len=10 qpn=0xffffff   judged no_qp
quiet
