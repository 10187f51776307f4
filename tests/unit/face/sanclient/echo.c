/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sends back on its standard output what it reads: a program that is linked statically, into which
 * no library can be loaded.
 */
#include <unistd.h>

int
main(void)
{
	static char bytes[65536];
	ssize_t n;

	while ((n = read(0, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0, put; at < n; at += put)
			if ((put = write(1, bytes + at, (size_t)(n - at))) < 0)
				return 1;
	return n < 0;
}
