// SPDX-License-Identifier: BSD-3-Clause
//
// The type of a request by its name, and by each of its tags.
#include <ndspi.h>

static bool
IsSend(enum ND2_REQUEST_TYPE type)
{
	enum _ND2_REQUEST_TYPE same = type;
	ND2_REQUEST_TYPE again = same;

	return again == ND2_REQUEST_TYPE::Nd2RequestTypeSend;
}

int
main()
{
	return IsSend(Nd2RequestTypeSend) ? 0 : 1;
}
