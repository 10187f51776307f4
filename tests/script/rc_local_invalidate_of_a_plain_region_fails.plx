region A.r1 4096
A busy
post A local_inv A.r1
post A send 10 bytes
A idle
A completes local_inv local_invalidate once; A event failed local_invalidate
A completes send flushed once; A event flushed
key A.r1 is granted
