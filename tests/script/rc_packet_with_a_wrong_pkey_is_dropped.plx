# Decision table line 5: before line 7 nothing changes and no reply leaves.
post B recv 100
inject A > B send.only psn=10 len=10 pkey=0x1234   judged pkey
quiet
view B psn_expected 10
