modify A init refused state
modify A rtr refused state
modify A error
state A error
A event flushed
modify A rts refused state
modify A sqd refused state
modify A reset
modify A rts refused state
modify A init
modify A rts refused state
