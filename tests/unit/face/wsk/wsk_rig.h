/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A client of WSK that is registered and has captured the provider, and a request to go with its
 * calls. Start with rig_open().
 */
#ifndef WSK_RIG_H
#define WSK_RIG_H

#include "test.h"

#include <wskndk.h>

static const WSK_CLIENT_DISPATCH rig_dispatch = {MAKE_WSK_VERSION(1, 0), 0, NULL};

static inline NTSTATUS
rig_register(PWSK_REGISTRATION registration, const WSK_CLIENT_DISPATCH *dispatch)
{
	WSK_CLIENT_NPI npi = {NULL, dispatch};

	return WskRegister(&npi, registration);
}

struct rig {
	WSK_REGISTRATION registration;
	WSK_PROVIDER_NPI wsk;
};

static inline void
rig_open(struct rig *rig)
{
	assert_int_equal(rig_register(&rig->registration, &rig_dispatch), STATUS_SUCCESS);
	assert_int_equal(WskCaptureProviderNPI(&rig->registration, WSK_INFINITE_WAIT, &rig->wsk),
			 STATUS_SUCCESS);
}

static inline void
rig_close(struct rig *rig)
{
	WskReleaseProviderNPI(&rig->registration);
	WskDeregister(&rig->registration);
}

/* ---- a request ---- */

struct rig_request {
	PIRP irp;
	int completed;
	NTSTATUS status;
	ULONG_PTR information;
};

static inline NTSTATUS
rig_completed(PDEVICE_OBJECT device, PIRP irp, PVOID context)
{
	struct rig_request *request = context;

	(void)device;
	request->completed++;
	request->status = irp->IoStatus.Status;
	request->information = irp->IoStatus.Information;
	return STATUS_MORE_PROCESSING_REQUIRED;
}

static inline PIRP
rig_request(struct rig_request *request)
{
	*request = (struct rig_request){.irp = IoAllocateIrp(1, FALSE), .status = STATUS_PENDING};
	assert_non_null(request->irp);
	IoSetCompletionRoutine(request->irp, rig_completed, request, TRUE, TRUE, TRUE);
	return request->irp;
}

/** A call returned a status, and its request was completed once with the same. */
#define rig_answered(request, call, expected)                                  \
	do {                                                                   \
		NTSTATUS was_ = (call);                                        \
		assert_int_equal((uint32_t)was_, (uint32_t)(expected));        \
		assert_int_equal((request)->completed, 1);                     \
		assert_int_equal((uint32_t)(request)->status, (uint32_t)was_); \
		IoFreeIrp((request)->irp);                                     \
	} while (0)

#endif
