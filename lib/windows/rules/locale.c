/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The locale by which characters have case, whatever the program's is. It is never freed. There is
 * one function.
 */
#include "plx_rules.h"

#include <pthread.h>

static locale_t unicode;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
make_unicode(void)
{
	unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

locale_t
plx_unicode_locale(void)
{
	pthread_once(&once, make_unicode);
	return unicode;
}
