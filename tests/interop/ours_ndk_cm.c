/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The connection of our end that uses NDK: it asks or answers, and either end hangs up. There is
 * one at a time. Start with make_qp().
 */
#include "ours_ndk.h"

#include <netinet/in.h>
#include <ntstatus.h>
#include <string.h>

enum {
	DEPTH = 64,
	READS = 16,
};

static VOID
on_cq(PVOID context, NTSTATUS status)
{
	(void)context, (void)status; /* never armed */
}

static NTSTATUS
make_qp(void)
{
	NTSTATUS status = NDK_CREATE(&ndk.send_cq, ndk.adapter->Dispatch->NdkCreateCq, ndk.adapter,
				     DEPTH, on_cq, NULL, NULL);

	if (status == STATUS_SUCCESS)
		status = NDK_CREATE(&ndk.recv_cq, ndk.adapter->Dispatch->NdkCreateCq, ndk.adapter,
				    DEPTH, on_cq, NULL, NULL);
	if (status == STATUS_SUCCESS)
		status = end_make_regions();
	if (status == STATUS_SUCCESS)
		status = NDK_CREATE(&ndk.mw, ndk.pd->Dispatch->NdkCreateMw, ndk.pd);
	if (status == STATUS_SUCCESS)
		status = NDK_CREATE(&ndk.qp, ndk.pd->Dispatch->NdkCreateQp, ndk.pd, ndk.recv_cq,
				    ndk.send_cq, NULL, DEPTH, DEPTH, 1, 1, 0);
	return status;
}

/* The address that the command has under a name, as 32 digits of a GID, and its port.
 * Returns: its length; 0: there is none */
static ULONG
address_of(const struct line *line, const char *name, uint16_t port, struct sockaddr_in6 *out)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	uint8_t gid[16];

	memset(out, 0, sizeof(*out));
	if (line_bytes(line, name, gid, sizeof(gid)) != sizeof(gid)) {
		line_answer("error %s is not the 32 digits of a GID", name);
		return 0;
	}
	if (memcmp(gid, mapped, sizeof(mapped)) == 0) {
		memcpy(&v4.sin_addr, gid + 12, 4);
		memcpy(out, &v4, sizeof(v4));
		return sizeof(v4);
	}
	out->sin6_family = AF_INET6;
	out->sin6_port = htons(port);
	memcpy(&out->sin6_addr, gid, sizeof(gid));
	return sizeof(*out);
}

static VOID
on_request(PVOID context, NDK_CONNECTOR *connector)
{
	NDK_CONNECTOR *none = NULL;

	(void)context;
	if (!atomic_compare_exchange_strong(&ndk.requested, &none, connector))
		connector->Dispatch->NdkReject(connector, NULL, 0);
}

static VOID
on_disconnect(PVOID context)
{
	(void)context;
	ndk.disconnected++;
}

/* listen from= port=: at that address of ours */
void
end_listen(const struct line *line)
{
	struct sockaddr_in6 own;
	ULONG length = address_of(line, "from", (uint16_t)line_number(line, "port", 0), &own);
	NTSTATUS status;

	if (!length)
		return;
	status = NDK_CREATE(&ndk.listener, ndk.adapter->Dispatch->NdkCreateListener, ndk.adapter,
			    on_request, NULL);
	if (status == STATUS_SUCCESS)
		status = NDK_RESULT_OF(ndk.listener->Dispatch->NdkListen, ndk.listener,
				       (PSOCKADDR)(void *)&own, length);
	end_answer("it cannot listen", status);
}

void
end_unlisten(const struct line *line)
{
	(void)line;
	if (ndk.listener)
		end_close(&ndk.listener->Header, ndk.listener->Dispatch->NdkCloseListener);
	ndk.listener = NULL;
	line_answer("ok");
}

/* dial from= gid= port=: ask that peer */
void
end_dial(const struct line *line)
{
	struct sockaddr_in6 own, peer;
	ULONG length = address_of(line, "from", 0, &own);
	NTSTATUS status;

	if (!length || !address_of(line, "gid", (uint16_t)line_number(line, "port", 0), &peer))
		return;
	ndk.connecting = (struct ndk_call){0};
	ndk.is_active = true;
	status = make_qp();
	if (status == STATUS_SUCCESS)
		status = NDK_CREATE(&ndk.connector, ndk.adapter->Dispatch->NdkCreateConnector,
				    ndk.adapter);
	if (status == STATUS_SUCCESS)
		status = ndk.connector->Dispatch->NdkConnect(
			ndk.connector, ndk.qp, (PSOCKADDR)(void *)&own, length,
			(PSOCKADDR)(void *)&peer, length, READS, READS, NULL, 0, end_on_done,
			&ndk.connecting);
	end_answer("it cannot ask", status == STATUS_PENDING ? STATUS_SUCCESS : status);
}

/* accept: what has been asked for, or will be soon */
void
end_accept(const struct line *line)
{
	uint64_t end = lines_now() + 5000000000u;
	NTSTATUS status;

	(void)line;
	while (!ndk.requested && lines_now() < end)
		;
	ndk.connector = atomic_exchange(&ndk.requested, NULL);
	if (!ndk.connector) {
		line_answer("none");
		return;
	}
	ndk.connecting = (struct ndk_call){0};
	ndk.is_active = false;
	status = make_qp();
	if (status == STATUS_SUCCESS)
		status = ndk.connector->Dispatch->NdkAccept(ndk.connector, ndk.qp, READS, READS,
							    NULL, 0, on_disconnect, NULL,
							    end_on_done, &ndk.connecting);
	end_answer("it cannot accept", status == STATUS_PENDING ? STATUS_SUCCESS : status);
}

/* established: wait until the connection is */
void
end_established(const struct line *line)
{
	NTSTATUS status = end_await(&ndk.connecting, STATUS_PENDING);

	(void)line;
	if (status == STATUS_SUCCESS && ndk.is_active)
		status = NDK_RESULT_OF(ndk.connector->Dispatch->NdkCompleteConnect, ndk.connector,
				       on_disconnect, NULL);
	end_answer("no connection", status);
}

void
end_hangup(const struct line *line)
{
	(void)line;
	end_answer("it cannot hang up",
		   NDK_RESULT_OF(ndk.connector->Dispatch->NdkDisconnect, ndk.connector));
}

/* hungup: wait until the peer has done so */
void
end_hungup(const struct line *line)
{
	uint64_t end = lines_now() + 5000000000u;

	(void)line;
	while (!ndk.disconnected && lines_now() < end)
		;
	line_answer(ndk.disconnected ? "ok" : "none");
}

/* drop: close what belongs to the connection */
void
end_drop(const struct line *line)
{
	(void)line;
	if (!ndk.connector) /* one that nobody has accepted */
		ndk.connector = atomic_exchange(&ndk.requested, NULL);
	if (ndk.connector)
		end_close(&ndk.connector->Header, ndk.connector->Dispatch->NdkCloseConnector);
	if (ndk.qp)
		end_close(&ndk.qp->Header, ndk.qp->Dispatch->NdkCloseQp);
	if (ndk.mw)
		end_close(&ndk.mw->Header, ndk.mw->Dispatch->NdkCloseMw);
	end_drop_regions();
	if (ndk.send_cq)
		end_close(&ndk.send_cq->Header, ndk.send_cq->Dispatch->NdkCloseCq);
	if (ndk.recv_cq)
		end_close(&ndk.recv_cq->Header, ndk.recv_cq->Dispatch->NdkCloseCq);
	ndk.connector = NULL;
	ndk.qp = NULL;
	ndk.mw = NULL;
	ndk.send_cq = ndk.recv_cq = NULL;
	ndk.disconnected = 0;
	line_answer("ok");
}
