# Of two READs nothing has come back. The newest request is not sent again: its answer may be long.
config A timeout 10ms
region B.r1 8192
post A read 10 from B.r1
A > B  read.req    psn=10
B > A  read.only   psn=10
A completes read ok 10 bytes
post A read 2000 from B.r1
A > B  read.req    psn=11       drop
post A read 3000 from B.r1
A > B  read.req    psn=13       drop
+100us A > B  read.req psn=11 rlen=2000
B > A  read.first  psn=11
B > A  read.last   psn=12
A completes read ok 2000 bytes
+200us A > B  read.req psn=13 rlen=3000
B > A  read.first  psn=13
B > A  read.middle psn=14
B > A  read.last   psn=15
A completes read ok 3000 bytes
counter A probes 2
