/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A C++ program may include the public header and call what it declares.
 * It tests no behaviour but that. Start with main().
 */
#include "plx_verbs.h"

#include <cstring>

int
main()
{
	plx_wishes wishes;
	plx_qp_link link;
	plx_send_wr wr = {};

	plx_wishes_init(&wishes);
	plx_qp_link_init(&link);
	wr.op = PLX_WR_SEND;
	wr.inv_key = plx_key{7};
	return std::strlen(plx_version()) > 0 && wishes.core == -1 && link.retry == 7 &&
			       wr.imm == 7 &&
			       std::strcmp(plx_status_text(PLX_OK), "success") == 0
		       ? 0
		       : 1;
}
