# fails: :2: the script expects nothing
post B recv 10
