/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Our end of an interoperability test once more, as a consumer of NDK: its memory, and the commands
 * (README.md). Area 0 is registered once; area 1 has pages that do not follow each other and is
 * registered by requests. It judges nothing. Start with main().
 */
#include "ours_ndk.h"

#include <limits.h>
#include <ntstatus.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plx_verbs.h"

enum {
	PATIENCE_S = 10,
};

#define FAST_BASE 0x77000000 /* of fast registrations; no memory is there */

struct ndk ndk;

void
end_answer(const char *what, NTSTATUS status)
{
	if (status == STATUS_SUCCESS)
		line_answer("ok");
	else
		line_answer("error %s: status 0x%08x", what, (unsigned int)status);
}

void
end_on_done(PVOID context, NTSTATUS status)
{
	struct ndk_call *call = context;

	call->status = status;
	call->is_over = true;
}

void
end_on_created(PVOID context, NTSTATUS status, NDK_OBJECT_HEADER *object)
{
	((struct ndk_call *)context)->object = object;
	end_on_done(context, status);
}

static void
on_closed(PVOID context)
{
	end_on_done(context, STATUS_SUCCESS);
}

NTSTATUS
end_await(struct ndk_call *call, NTSTATUS called)
{
	uint64_t end = lines_now() + PATIENCE_S * 1000000000ull;

	if (called != STATUS_PENDING)
		return called;
	while (!call->is_over && lines_now() < end)
		sched_yield();
	return call->is_over ? call->status : STATUS_IO_TIMEOUT;
}

void
end_close(NDK_OBJECT_HEADER *object, NDK_FN_CLOSE_OBJECT close)
{
	static struct ndk_call call; /* outlives a close that does not end */

	call = (struct ndk_call){0};
	if (end_await(&call, close(object, on_closed, &call)) != STATUS_SUCCESS) {
		fprintf(stderr, "an object cannot be closed\n");
		exit(1);
	}
}

/* ---- memory ---- */

static NTSTATUS
register_once(struct ndk_area *one, const struct area *area)
{
	const ULONG rights = NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE;
	NTSTATUS status;

	one->base = (uintptr_t)area->memory;
	one->mdl = IoAllocateMdl(area->memory, (ULONG)area->bytes, FALSE, FALSE, NULL);
	if (!one->mdl)
		return STATUS_INSUFFICIENT_RESOURCES;
	MmBuildMdlForNonPagedPool(one->mdl);
	status = NDK_CREATE(&one->mr, ndk.pd->Dispatch->NdkCreateMr, ndk.pd, FALSE);
	if (status == STATUS_SUCCESS)
		status = NDK_RESULT_OF(one->mr->Dispatch->NdkRegisterMr, one->mr, one->mdl,
				       area->bytes, rights);
	return status;
}

/* The pages that fast registrations will be of. */
static NTSTATUS
prepare_fast(struct ndk_area *one, const struct area *area)
{
	ULONG bytes = 0, fbo;
	NTSTATUS status;

	one->is_fast = true;
	ndk.adapter->Dispatch->NdkBuildLAM(ndk.adapter, one->mdl, area->bytes, NULL, NULL, NULL,
					   &bytes, &fbo);
	one->lam = malloc(bytes);
	if (!one->lam)
		return STATUS_INSUFFICIENT_RESOURCES;
	status = ndk.adapter->Dispatch->NdkBuildLAM(ndk.adapter, one->mdl, area->bytes, NULL, NULL,
						    one->lam, &bytes, &fbo);
	one->base = FAST_BASE;
	return status;
}

NTSTATUS
end_make_regions(void)
{
	NTSTATUS status = STATUS_SUCCESS;

	for (struct ndk_area *one = ndk.area; one < ndk.area + AREAS; one++) {
		if (!one->is_fast)
			continue;
		if (status == STATUS_SUCCESS)
			status = NDK_CREATE(&one->mr, ndk.pd->Dispatch->NdkCreateMr, ndk.pd, TRUE);
		if (status == STATUS_SUCCESS)
			status = NDK_RESULT_OF(one->mr->Dispatch->NdkInitializeFastRegisterMr,
					       one->mr, one->lam->AdapterPageCount, TRUE);
	}
	return status;
}

void
end_drop_regions(void)
{
	for (struct ndk_area *one = ndk.area; one < ndk.area + AREAS; one++) {
		if (!one->is_fast || !one->mr)
			continue;
		end_close(&one->mr->Header, one->mr->Dispatch->NdkCloseMr);
		one->mr = NULL;
	}
}

/* mr mr= bytes= [fast=1]: memory of zeros, registered, or to be registered by requests */
static void
run_mr(const struct line *line)
{
	const PHYSICAL_ADDRESS low = {0}, high = {.QuadPart = LLONG_MAX};
	struct ndk_area *one = &ndk.area[area_id(line) % AREAS];
	MDL *mdl = NULL;
	uint8_t *memory = NULL;
	struct area *area;
	NTSTATUS status;

	if (!line_number(line, "fast", 0)) {
		area = area_make(line);
	} else {
		mdl = MmAllocatePagesForMdl(low, high, low, line_number(line, "bytes", 0));
		if (mdl)
			memory = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
		area = area_lend(line, memory);
	}
	if (!area)
		return;
	if (mdl)
		one->mdl = mdl;
	status = mdl ? prepare_fast(one, area) : register_once(one, area);
	if (status == STATUS_SUCCESS)
		line_answer("ok va=%llu rkey=%u", (unsigned long long)one->base,
			    mdl ? 0 : one->mr->Dispatch->NdkGetRemoteTokenFromMr(one->mr));
	else
		end_answer("no region", status);
}

static void
drop_memory(struct ndk_area *one)
{
	if (one->mr)
		end_close(&one->mr->Header, one->mr->Dispatch->NdkCloseMr);
	if (one->lam)
		ndk.adapter->Dispatch->NdkReleaseLAM(ndk.adapter, one->lam);
	free(one->lam);
	if (one->mdl && one->is_fast) {
		MmUnmapLockedPages(MmGetSystemAddressForMdlSafe(one->mdl, NormalPagePriority),
				   one->mdl);
		MmFreePagesFromMdl(one->mdl);
		ExFreePool(one->mdl);
	} else if (one->mdl) {
		IoFreeMdl(one->mdl);
	}
}

static const struct line_command commands[] = {
	{"mr", run_mr},
	{"fill", run_fill},
	{"check", run_check},
	{"listen", end_listen},
	{"unlisten", end_unlisten},
	{"dial", end_dial},
	{"accept", end_accept},
	{"established", end_established},
	{"hangup", end_hangup},
	{"hungup", end_hungup},
	{"drop", end_drop},
	{"reg", end_reg},
	{"bind", end_bind},
	{"send", end_send},
	{"recv", end_recv},
	{"reap", end_reap},
};

int
main(int argc, char **argv)
{
	struct plx_adapter_info info;

	if (argc != 2) {
		fprintf(stderr, "usage: %s ADAPTER, one of those that POLLUX_CONFIG has\n",
			argv[0]);
		return 2;
	}
	setenv("POLLUX_NDK_LOG", "1", 1);
	setenv("POLLUX_SCATTER", "1", 1);
	if (plx_ndk_open(argv[1], (NDK_VERSION){2, 1}, &ndk.adapter) != STATUS_SUCCESS ||
	    NDK_CREATE(&ndk.pd, ndk.adapter->Dispatch->NdkCreatePd, ndk.adapter) != STATUS_SUCCESS)
		return 1;
	plx_adapter_query(plx_ndk_adapter_verbs(ndk.adapter), &info);
	line_answer("ok mtu=%u mac=%02x:%02x:%02x:%02x:%02x:%02x", info.path_mtu, info.mac[0],
		    info.mac[1], info.mac[2], info.mac[3], info.mac[4], info.mac[5]);
	lines_serve(commands, sizeof(commands) / sizeof(commands[0]), NULL);
	for (int i = 0; i < AREAS; i++)
		drop_memory(&ndk.area[i]);
	end_close(&ndk.pd->Header, ndk.pd->Dispatch->NdkClosePd);
	plx_ndk_close(ndk.adapter);
	return 0;
}
