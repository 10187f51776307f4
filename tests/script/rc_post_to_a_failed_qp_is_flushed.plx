# Nothing posted is ever left without a completion, not even then.
fail A
A event failed; A event flushed
post A send 10 bytes
A completes send flushed once; A event flushed
post A recv 10
A completes recv flushed once; A event flushed
