# fails: :3: no line until the end expects: A event      FAILED
fail A
state A error
