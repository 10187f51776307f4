# The key of the source is looked up when a packet is built; nothing leaves.
region A.r1 4096
retire A.r1
post A send 100 bytes in=A.r1
A completes send local_protection once; A event failed local_protection; A event flushed
state A error
