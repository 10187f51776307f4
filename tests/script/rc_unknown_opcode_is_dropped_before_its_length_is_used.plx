# CVE-2026-46133: one 48-byte packet with opcode 0xff, no QP needed. It is a value in the table, and refused.
post B recv 100
inject A > B send.only psn=10 len=4 opcode=0xff   judged opcode
inject A > B send.only psn=10 len=4 opcode=0x15   judged opcode
inject A > B send.only psn=10 len=4 opcode=0x18   judged opcode
# ATOMIC WRITE and FLUSH: not ours, whatever their payload (a stack took an ATOMIC WRITE of any length).
inject A > B send.only psn=10 len=12 opcode=0x1d  judged opcode
inject A > B send.only psn=10 len=12 opcode=0x1c  judged opcode
quiet
view B psn_expected 10
