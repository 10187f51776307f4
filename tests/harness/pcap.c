/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Reads pcap files: a header of 24 bytes, then records of 16 bytes and a frame each. It checks
 * every length against the size of the file before using it.
 */
#include "pcap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FILE_HEADER = 24,
	RECORD_HEADER = 16,
	LINKTYPE_ETHERNET = 1,
};

#define MAGIC_USEC 0xa1b2c3d4u
#define MAGIC_NSEC 0xa1b23c4du

/* A file's bytes, and whether its integers have the other byte order than ours. */
struct reader {
	uint8_t *bytes;
	size_t len;
	bool swapped;
};

static uint32_t
read_u32(const struct reader *r, size_t at)
{
	uint32_t v;

	memcpy(&v, r->bytes + at, sizeof v);
	return r->swapped ? __builtin_bswap32(v) : v;
}

static int
read_file(const char *path, struct reader *out)
{
	FILE *file = fopen(path, "rb");
	long len;
	int result = -1;

	if (!file)
		return -1;
	if (fseek(file, 0, SEEK_END) == 0 && (len = ftell(file)) > 0 &&
	    fseek(file, 0, SEEK_SET) == 0 && (out->bytes = malloc((size_t)len))) {
		out->len = (size_t)len;
		result = fread(out->bytes, 1, out->len, file) == out->len ? 0 : -1;
	}
	fclose(file);
	return result;
}

static int
check_header(struct reader *r)
{
	if (r->len < FILE_HEADER)
		return -1;
	r->swapped = false;
	if (read_u32(r, 0) != MAGIC_USEC && read_u32(r, 0) != MAGIC_NSEC)
		r->swapped = true;
	if (read_u32(r, 0) != MAGIC_USEC && read_u32(r, 0) != MAGIC_NSEC)
		return -1;
	return read_u32(r, 20) == LINKTYPE_ETHERNET ? 0 : -1;
}

static int
add_frame(struct pcap *pcap, const uint8_t *bytes, size_t len)
{
	struct pcap_frame *frames =
		realloc(pcap->frames, (pcap->count + 1) * sizeof(*pcap->frames));
	uint8_t *copy;

	if (!frames)
		return -1;
	pcap->frames = frames;
	copy = malloc(len);
	if (!copy)
		return -1;
	memcpy(copy, bytes, len);
	frames[pcap->count++] = (struct pcap_frame){copy, len};
	return 0;
}

static int
read_frames(const struct reader *r, struct pcap *out)
{
	size_t at = FILE_HEADER;

	while (at < r->len) {
		uint32_t captured, original;

		if (r->len - at < RECORD_HEADER)
			return -1;
		captured = read_u32(r, at + 8);
		original = read_u32(r, at + 12);
		at += RECORD_HEADER;
		if (captured == 0 || captured != original || captured > r->len - at)
			return -1;
		if (add_frame(out, r->bytes + at, captured))
			return -1;
		at += captured;
	}
	return 0;
}

int
pcap_load(const char *path, struct pcap *out)
{
	struct reader r = {0};
	int result;

	*out = (struct pcap){0};
	result = read_file(path, &r) || check_header(&r) || read_frames(&r, out) ? -1 : 0;
	free(r.bytes);
	if (result)
		pcap_free(out);
	return result;
}

void
pcap_free(struct pcap *pcap)
{
	for (size_t i = 0; i < pcap->count; i++)
		free(pcap->frames[i].bytes);
	free(pcap->frames);
	*pcap = (struct pcap){0};
}
