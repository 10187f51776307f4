/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Hugepages of plx_mem_alloc() that a device is shown: one that accesses mapped memory alone. Start
 * with plx_host_map_memory().
 */
#define ALLOW_EXPERIMENTAL_API    /* rte_dev_dma_map(): in DPDK since 19.05, still marked \
				     experimental */
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_memory.h>

#include "adapter.h"
#include "plx_blocks.h"

/* A device that a block is mapped for. */
struct view {
	struct plx_list node;
	const struct host_adapter *adapter;
	uint32_t users; /* regions in it */
};

/* The EAL knows such a block. */
static void
forget(struct plx_block *block)
{
	(void)rte_extmem_unregister(block->memory, block->bytes);
}

static struct view *
view_of(struct plx_block *block, const struct host_adapter *adapter)
{
	struct plx_list *node, *after;

	plx_list_for_each (node, after, &block->views) {
		struct view *view = plx_list_entry(node, struct view, node);

		if (view->adapter == adapter)
			return view;
	}
	return NULL;
}

static struct rte_device *
device_of(const struct host_adapter *adapter)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(plx_ethdev_port_id(adapter->dev), &info))
		return NULL;
	return info.device;
}

/* Map page by page, since without an IOMMU adjacent pages may not be adjacent for the device. */
static bool
map_pages(struct rte_device *device, const struct plx_block *block)
{
	char *start = block->memory;

	for (size_t at = 0; at < block->bytes; at += PLX_BLOCK_HUGE) {
		if (rte_dev_dma_map(device, start + at, rte_mem_virt2iova(start + at),
				    PLX_BLOCK_HUGE) == 0)
			continue;
		while (at > 0) {
			at -= PLX_BLOCK_HUGE;
			(void)rte_dev_dma_unmap(device, start + at, rte_mem_virt2iova(start + at),
						PLX_BLOCK_HUGE);
		}
		return false;
	}
	return true;
}

static void
unmap_pages(struct rte_device *device, const struct plx_block *block)
{
	char *start = block->memory;

	for (size_t at = 0; at < block->bytes; at += PLX_BLOCK_HUGE)
		(void)rte_dev_dma_unmap(device, start + at, rte_mem_virt2iova(start + at),
					PLX_BLOCK_HUGE);
}

static bool
show(struct host_adapter *adapter, struct plx_block *block)
{
	struct rte_device *device = device_of(adapter);
	struct view *view = calloc(1, sizeof(*view));
	const char *step = "rte_extmem_register";
	bool shown = false;

	rte_errno = ENODEV;
	if (view && device) {
		if (block->forget == NULL &&
		    rte_extmem_register(block->memory, block->bytes, NULL, 0, PLX_BLOCK_HUGE) == 0)
			block->forget = forget;
		if (block->forget != NULL) {
			step = "rte_dev_dma_map";
			shown = map_pages(device, block);
		}
	}
	if (shown) {
		*view = (struct view){.adapter = adapter, .users = 1};
		plx_list_append(&block->views, &view->node);
		return true;
	}
	snprintf(adapter->dma_refused_why, sizeof(adapter->dma_refused_why), "%s: %s", step,
		 rte_strerror(rte_errno));
	adapter->dma_refused++;
	free(view);
	return false;
}

bool
plx_host_map_memory(struct host_adapter *adapter, void *memory, size_t length)
{
	struct plx_block *block;
	struct view *view;
	bool shown = false;

	if (!adapter->needs_dma_map)
		return false;
	plx_blocks_lock();
	block = plx_block_around(memory, length);
	if (block && block->huge) {
		view = view_of(block, adapter);
		if (view)
			view->users++;
		shown = view || show(adapter, block);
	}
	plx_blocks_unlock();
	return shown;
}

void
plx_host_unmap_memory(struct host_adapter *adapter, void *memory, size_t length)
{
	struct rte_device *device = device_of(adapter);
	struct plx_block *block;
	struct view *view;

	plx_blocks_lock();
	block = plx_block_around(memory, length);
	view = block ? view_of(block, adapter) : NULL;
	if (view && --view->users == 0) {
		if (device)
			unmap_pages(device, block);
		plx_list_remove(&view->node);
		free(view);
	}
	plx_blocks_unlock();
}
