# budget 1 lets one response leave; the rest finds no key any more.
config B budget 1
region B.r1 4096
post A read 3000 from B.r1
B busy
A > B  read.req    psn=10
B once
B > A  read.first  psn=10
retire B.r1
B idle
B > A  nak.access  psn=11
A completes read remote_access once; A event failed remote_access; A event flushed
B event failed remote_access; B event flushed
