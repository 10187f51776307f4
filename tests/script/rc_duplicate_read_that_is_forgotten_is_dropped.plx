# Only responder_resources requests are remembered; a duplicate of an older one is dropped, not executed.
config responder_resources 1 initiator_depth 1
region B.r1 4096
post A read 100 from B.r1
A > B  read.req  psn=10     copy old
B > A  read.only psn=10
A completes read ok 100 bytes
post A read 200 from B.r1
A > B  read.req  psn=11
B > A  read.only psn=11
A completes read ok 200 bytes
release old                 judged duplicate_forgotten
quiet
state B rts
