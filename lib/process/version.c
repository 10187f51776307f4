/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The version of the library.
 */
#include <process_version.h> /* made by Meson: PLX_VERSION */

#include "plx_adapter.h"

const char *
plx_version(void)
{
	return PLX_VERSION;
}
