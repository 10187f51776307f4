/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A C++ program may include the public headers and call what it declares.
 * It tests no behaviour but that. Start with main().
 */
#include "plx_verbs.h"

#include <cstring>

int
main()
{
	plx_adapter_options options;
	plx_qp_attr attr;
	plx_send_wr wr = {};

	plx_adapter_options_init(&options);
	plx_qp_attr_init(&attr);
	wr.op = PLX_WR_SEND;
	wr.inv_key = plx_key{7};
	return std::strlen(plx_version()) > 0 && options.core == -1 && attr.retry == 7 &&
			       wr.imm == 7 && std::strcmp(plx_status_text(PLX_OK), "success") == 0
		       ? 0
		       : 1;
}
