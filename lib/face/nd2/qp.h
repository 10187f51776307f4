/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What qp.c and post.c share: the methods that post. It owns no state. Start with post_send().
 */
#ifndef PLX_ND2_QP_H
#define PLX_ND2_QP_H

#include "nd2.h"

HRESULT STDMETHODCALLTYPE post_send(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n,
				    ULONG flags);
HRESULT STDMETHODCALLTYPE post_receive(IND2QueuePair *face, void *context, const ND2_SGE *sge,
				       ULONG n);
HRESULT STDMETHODCALLTYPE post_bind(IND2QueuePair *face, void *context, IUnknown *region,
				    IUnknown *window, const void *buffer, SIZE_T bytes,
				    ULONG flags);
HRESULT STDMETHODCALLTYPE post_invalidate(IND2QueuePair *face, void *context, IUnknown *window,
					  ULONG flags);
HRESULT STDMETHODCALLTYPE post_read(IND2QueuePair *face, void *context, const ND2_SGE *sge, ULONG n,
				    UINT64 address, UINT32 token, ULONG flags);
HRESULT STDMETHODCALLTYPE post_write(IND2QueuePair *face, void *context, const ND2_SGE *sge,
				     ULONG n, UINT64 address, UINT32 token, ULONG flags);

#endif
