/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scatter and gather: translate a range of a message into ranges of memory. Every key is checked
 * each time. It never accesses the memory, only locates it.
 * Start with sge_resolve().
 */
#include "qp.h"

struct sge_source
sge_of_send(const struct plx_rc *qp, uint32_t index)
{
	const struct plx_wqe *wqe = sq_wqe(qp, index);

	return (struct sge_source){
		.head = wqe->sge,
		.tail = (const struct plx_sge *)(const void *)sq_spill(qp, index),
		.head_count = PLX_WQE_SGES,
		.count = wqe->sges,
	};
}

struct sge_source
sge_of_recv(const struct plx_rc *qp)
{
	return (struct sge_source){
		.head = qp->recv.sge,
		.head_count = PLX_SGE_MAX,
		.count = qp->recv.sges,
	};
}

_Static_assert(PLX_MTU_MAX <= PLX_PAGE_BYTES, "a packet's bytes lie on two pages at most");

/* A page is checked at a time: the key may be invalidated between two, and then nothing is granted.
 */
int
key_pieces_as(const struct plx_rc *qp, const struct plx_asker *asker, struct plx_key key,
	      uint64_t va, uint32_t bytes, struct plx_access need, struct plx_iov *out,
	      struct plx_access *common)
{
	bool is_private = false;
	int count = 0;

	while (bytes > 0) {
		struct plx_grant grant;
		uint32_t take;

		if (plx_key_check_page(qp->mem, key, asker, va, bytes, need, &grant, &take) !=
		    PLX_KEY_GRANTED)
			return -1; /* LCOV_EXCL_LINE: invalidated since the caller's check */
		common->bits &= grant.access.bits;
		out[count++] = (struct plx_iov){grant.host, take, grant.is_private};
		is_private |= grant.is_private;
		va += take;
		bytes -= take;
	}
	return is_private ? count | RANGES_PRIVATE : count;
}

int
key_pieces(const struct plx_rc *qp, struct plx_key key, uint64_t va, uint32_t bytes,
	   struct plx_access need, struct plx_iov *out, struct plx_access *common)
{
	return key_pieces_as(qp, &qp->asker, key, va, bytes, need, out, common);
}

int
sge_resolve(const struct plx_rc *qp, const struct sge_source *source, uint32_t offset,
	    uint32_t bytes, struct plx_access need, struct plx_iov *out, struct plx_access *common)
{
	int count = 0, is_private = 0;

	for (uint32_t i = 0; i < source->count && bytes > 0; i++) {
		const struct plx_sge *sge = i < source->head_count
						    ? &source->head[i]
						    : &source->tail[i - source->head_count];
		uint32_t take;
		int pieces;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		take = sge->length - offset;
		if (take > bytes)
			take = bytes;
		/* va + offset may wrap; then no region contains it, and the check fails */
		pieces = key_resolve(qp, sge->key, sge->va + offset, take, need, &out[count],
				     common);
		if (pieces < 0)
			return -1;
		is_private |= pieces & RANGES_PRIVATE;
		count += ranges_count(pieces);
		bytes -= take;
		offset = 0;
	}
	return bytes == 0 ? count | is_private : -1;
}

void
sge_place(const struct plx_iov *ranges, int count, const uint8_t *src, struct plx_actions *out)
{
	for (int i = 0; i < count; i++) {
		/*
		 * The range came from a grant with LOCAL_WRITE; the const of iov does not apply to
		 * the memory.
		 */
		action_add(out, PLX_ACT_PLACE)->place = (struct plx_place){
			.dst = (uint8_t *)(uintptr_t)ranges[i].base,
			.src = src,
			.bytes = ranges[i].bytes,
			.is_private = ranges[i].is_private,
		};
		src += ranges[i].bytes;
	}
}
