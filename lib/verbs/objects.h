/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The structs behind the handles of plx_verbs.h, and functions that the files of this room share.
 * It owns no state. Every object points to its struct plx_adapter, in plx_adapter_object.h.
 */
#ifndef PLX_OBJECTS_H
#define PLX_OBJECTS_H

#include "plx_adapter_object.h"
#include "plx_verbs.h"

struct plx_pd {
	struct plx_adapter *adapter;
	struct plx_domain domain;
};

struct plx_mr {
	struct plx_pd *pd;
	struct plx_region region;
	struct plx_key key;
	void *memory;
	size_t length;
	void *lists;    /* of pages, which the key table refers to; NULL: none */
	uint32_t pages; /* of one fast registration */
	bool fast;      /* registered by work requests; `memory` and `key` are not used */
	bool mapped;    /* for the device, with plx_adapter_map_memory() */
	bool retired;   /* a deregister timed out; the next call continues it */
	uint64_t token;
};

struct plx_mw {
	struct plx_pd *pd;
	struct plx_window window;
	bool retired;
	uint64_t token;
};

/* ---- qp.c ---- */

static inline struct plx_pd *
pd_of(const struct plx_qp *qp)
{
	return plx_engine_qp_config(qp)->pd;
}

static inline struct plx_adapter *
adapter_of(const struct plx_qp *qp)
{
	return pd_of(qp)->adapter;
}

static inline bool
is_ud(const struct plx_qp *qp)
{
	return plx_engine_qp_config(qp)->type == PLX_QP_UD;
}

/* READs and atomics that the peer may have outstanding. */
static inline uint8_t
responder_resources_of(const struct plx_qp *qp)
{
	return (uint8_t)plx_engine_qp_config(qp)->caps.responder_resources;
}

/* A value of the caller's, and what it may be. */
struct range {
	const char *what;
	uint32_t value, first, last;
};

/** Write the sentence for the first value that is out of its range.
 * Errors: INVALID */
enum plx_status check_ranges(const struct range *range, size_t n,
			     struct plx_why *why) PLX_MUST_CHECK;

/* ---- cq.c ---- */

/** Sleep until the descriptor may be readable, or `ns` have passed.
 * @param fd -1: sleep for 1 ms */
void sleep_on(int fd, uint64_t ns);

/* ---- qp_connect.c ---- */

/** Is it one of the five path MTUs? */
static inline bool
is_mtu(uint32_t bytes)
{
	return bytes >= PLX_MTU_MIN && bytes <= PLX_MTU_MAX && (bytes & (bytes - 1)) == 0;
}

/** Check the range of every attribute; a sentence names the wrong one. */
enum plx_status qp_attr_check(const struct plx_qp_attr *attr, struct plx_why *why) PLX_MUST_CHECK;
/** Convert the attributes that do not depend on the peer. */
void qp_attr_to_rc(const struct plx_adapter *adapter, const struct plx_qp_attr *attr,
		   struct plx_rc_attr *rc, struct plx_engine_path *path);

/** Compute and check all parameters of a connection.
 * Errors: as plx_qp_connect() */
enum plx_status qp_agree(const struct plx_qp *qp, const struct plx_qp_address *peer,
			 const struct plx_qp_attr *attr, struct plx_rc_attr *rc,
			 struct plx_engine_path *path, struct plx_why *why) PLX_MUST_CHECK;

#endif
