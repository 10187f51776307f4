/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What a driver left: counts before it was loaded, and the difference now. Start with
 * left_report().
 */
#include "io.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct plx_io_watch *watches[PLX_IO_WATCHES_MAX];

void
plx_io_watch(const struct plx_io_watch *watch)
{
	uint32_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < PLX_IO_WATCHES_MAX && watches[i] != NULL && watches[i] != watch)
		i++;
	PLX_ASSERT(i < PLX_IO_WATCHES_MAX);
	watches[i] = watch;
	pthread_mutex_unlock(&lock);
}

static const struct plx_io_watch *
watch_at(uint32_t i)
{
	const struct plx_io_watch *watch;

	pthread_mutex_lock(&lock);
	watch = watches[i];
	pthread_mutex_unlock(&lock);
	return watch;
}

void
left_begin(struct left *before)
{
	*before = (struct left){
		.irps = irp_count(),
		.work_items = work_item_count(),
		.files = file_count(),
		.work = plx_ex_work_left(),
		.ke = plx_ke_left(),
	};
	before->tags = calloc(PLX_EX_TAGS_MAX, sizeof(*before->tags));
	if (before->tags != NULL)
		before->tag_count = plx_ex_pool_left(before->tags, PLX_EX_TAGS_MAX);
	for (uint32_t i = 0; i < PLX_IO_WATCHES_MAX; i++) {
		const struct plx_io_watch *watch = watch_at(i);

		before->watched[i] = watch != NULL ? watch->count() : 0;
	}
}

bool
left_is_busy(const struct left *before)
{
	struct plx_ke_left now = plx_ke_left();

	return plx_ex_work_left() > before->work || now.threads > before->ke.threads ||
	       now.dpcs > before->ke.dpcs;
}

void
left_add(struct plx_driver_report *report, const char *kind, const char *name, uint64_t count,
	 uint64_t bytes, bool runs)
{
	struct plx_driver_finding *at;

	if (count == 0)
		return;
	if (report->findings == PLX_IO_FINDINGS_MAX) {
		/* the last tells of the others */
		at = &report->finding[PLX_IO_FINDINGS_MAX - 1];
		*at = (struct plx_driver_finding){
			.kind = "others", .count = at->count + count, .runs = at->runs || runs};
		return;
	}
	at = &report->finding[report->findings++];
	*at = (struct plx_driver_finding){
		.kind = kind, .count = count, .bytes = bytes, .runs = runs};
	snprintf(at->name, sizeof(at->name), "%s", name);
}

static void
add_device(void *report, PDEVICE_OBJECT device)
{
	char name[PLX_IO_NAME_MAX];

	text_to_utf8(name, sizeof(name), &device->DeviceObjectExtension->text);
	left_add(report,
		 device->DeviceObjectExtension->is_deleted ? "device (deleted, still held)"
							   : "device",
		 name, 1, 0, false);
}

static void
add_link(void *report, PCUNICODE_STRING text)
{
	char name[PLX_IO_NAME_MAX];

	text_to_utf8(name, sizeof(name), text);
	left_add(report, "symbolic link", name, 1, 0, false);
}

/* Where a block was allocated, as a person finds it again. */
static void
name_place(char *to, size_t size, const void *place)
{
	Dl_info info;

	if (place == NULL || dladdr(place, &info) == 0 || info.dli_fname == NULL)
		return;
	if (info.dli_sname != NULL)
		snprintf(to, size, ", the oldest from %s+0x%tx", info.dli_sname,
			 (const char *)place - (const char *)info.dli_saddr);
	else
		snprintf(to, size, ", the oldest from %s+0x%tx",
			 strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1
						      : info.dli_fname,
			 (const char *)place - (const char *)info.dli_fbase);
}

static void
add_tag(struct plx_driver_report *report, const struct plx_ex_tag *now,
	const struct plx_ex_tag *before)
{
	char name[PLX_IO_NAME_MAX], place[80] = "";

	if (before != NULL && now->blocks <= before->blocks)
		return;
	name_place(place, sizeof(place), now->oldest_from);
	if (now->tag == PLX_EX_TAG_OTHER) {
		snprintf(name, sizeof(name), "of further tags%s", place);
	} else {
		char tag[5] = "";

		for (int i = 0; i < 4; i++) {
			char c = (char)(now->tag >> (8 * i));

			tag[i] = (char)(c >= ' ' && c <= '~' ? c : '.');
		}
		snprintf(name, sizeof(name), "'%s' (0x%08x)%s", tag, now->tag, place);
	}
	left_add(report, "pool block", name, now->blocks - (before != NULL ? before->blocks : 0),
		 now->bytes - (before != NULL ? before->bytes : 0), false);
}

static void
add_pool(const struct left *before, struct plx_driver_report *report)
{
	struct plx_ex_tag *tags = calloc(PLX_EX_TAGS_MAX, sizeof(*tags));
	size_t n = tags != NULL ? plx_ex_pool_left(tags, PLX_EX_TAGS_MAX) : 0;

	for (size_t i = 0; i < n && i < PLX_EX_TAGS_MAX; i++) {
		const struct plx_ex_tag *old = NULL;

		for (size_t j = 0; j < before->tag_count && j < PLX_EX_TAGS_MAX; j++)
			if (before->tags[j].tag == tags[i].tag)
				old = &before->tags[j];
		add_tag(report, &tags[i], old);
	}
	free(tags);
}

static uint64_t
more(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void
left_report(const struct left *before, struct plx_driver_report *report)
{
	struct plx_ke_left ke = plx_ke_left();
	uint64_t items = more(work_item_count(), before->work_items);

	left_add(report, "thread", "", more(ke.threads, before->ke.threads), 0, true);
	left_add(report, "timer that is set", "", more(ke.timers, before->ke.timers), 0, true);
	left_add(report, "queued DPC", "", more(ke.dpcs, before->ke.dpcs), 0, true);
	left_add(report, "queued work item", "", more(plx_ex_work_left(), before->work), 0, true);
	left_add(report, "work item", "", items, 0, false);
	left_add(report, "request (IRP)", "", more(irp_count(), before->irps), 0, true);
	left_add(report, "open file", "", more(file_count(), before->files), 0, true);
	left_add(report, "handle", "", more(ke.handles, before->ke.handles), 0, false);
	devices_each(add_device, report);
	names_each_link(add_link, report);
	add_pool(before, report);
	for (uint32_t i = 0; i < PLX_IO_WATCHES_MAX; i++) {
		const struct plx_io_watch *watch = watch_at(i);

		if (watch != NULL)
			left_add(report, watch->kind, "", more(watch->count(), before->watched[i]),
				 0, watch->runs);
	}
}
