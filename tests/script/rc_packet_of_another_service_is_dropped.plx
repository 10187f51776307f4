# Decision table line 4: opcode family is not the QP's type.
post B recv 100
inject A > B uc.send.only psn=10 len=10   judged service
inject A > B ud.send.only psn=10 len=10   judged service
quiet
view B psn_expected 10
