# T3: the source address must be the peer's, although QP number, PSN and ICRC are right.
post B recv 100
inject A > B send.only psn=10 len=10 from=stranger   judged address
inject A > B nak.access psn=10 from=stranger         judged address
quiet
view B psn_expected 10
