# 7244491dab34: payload = packet - header - the attacker's pad - ICRC must not go below zero.
post B recv 100
inject A > B send.only psn=10 len=0 pad=3 cut=3   judged ext_short
quiet
view B psn_expected 10
