# The application has used the memory since: a WRITE that executed twice would be seen.
region B.r1 4096
post A write 100 to B.r1
A > B  write.only psn=10    copy again
B > A  ack        psn=10 msn=1
A completes write ok once
scribble B.r1
release again               judged duplicate
B > A  ack        psn=10 msn=1
memory B.r1 unchanged
