/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What ndinfo finds: providers of the catalog, their adapters, and the faults of either. It works
 * like any ND2 client, through the catalog and the interfaces, with any provider. Start with
 * survey().
 */
#ifndef NDINFO_INFO_H
#define NDINFO_INFO_H

#include <iphlpapi.h>
#include <ndspi.h>
#include <ws2spi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ADAPTERS_MAX = 64,  /* of one provider */
	ADDRESSES_MAX = 32, /* of one adapter */
	PROVIDERS_MAX = 64,
	FAMILIES_MAX = 8,
	TEXT_MAX = 1024,
	SENTENCE_MAX = 512,
};

struct found_address {
	SOCKADDR_STORAGE as;
	char text[64];
};

struct found_adapter {
	UINT64 id;
	struct found_address address[ADDRESSES_MAX];
	uint32_t addresses;
	char name[64], description[300]; /* of the interface with the address; or empty */
	uint32_t index;                  /* its IfIndex; 0: no interface has the address */
	HRESULT status;                  /* of OpenAdapter and Query; ND_PENDING: not called */
	ND2_ADAPTER_INFO limits;
};

struct found_provider {
	GUID id;
	char name[TEXT_MAX], library[TEXT_MAX];
	int version; /* of its first entry */
	int family[FAMILIES_MAX];
	uint32_t families;
	bool is_nd2;
	char sentence[SENTENCE_MAX];   /* why it has no adapters; empty: no fault */
	struct found_adapter *adapter; /* [adapters] */
	uint32_t adapters;
};

struct survey {
	struct found_provider *provider; /* [providers] */
	uint32_t providers;
	char complaints[8192]; /* of the catalog, one sentence per line */
	bool is_good;
};

struct options {
	bool json;
	bool closed; /* open no adapter */
};

/** Examine everything.
 * Returns: NULL: no memory */
struct survey *survey_take(const struct options *options);
void survey_free(struct survey *survey);

/* ---- names.c ---- */

/** "ND_DEVICE_NOT_READY"; for an unknown number its digits, in `room`. */
const char *status_name(HRESULT status, char room[16]);
/** "{7b0d8c5e-3f41-4b77-9c6a-2d0e5b1fa904}" */
const char *guid_text(const GUID *id, char room[39]);
const char *family_name(int family, char room[16]);
void text_of_wide(const WCHAR *wide, char *out, size_t size);

/* A limit of ND2_ADAPTER_INFO. */
struct limit {
	const char *name;
	size_t offset, size; /* [bytes] 2, 4, 8 */
};
extern const struct limit limits[];
extern const uint32_t limit_count;
uint64_t limit_value(const ND2_ADAPTER_INFO *info, const struct limit *limit);

struct flag {
	const char *name;
	ULONG bit;
};
extern const struct flag flags[];
extern const uint32_t flag_count;

/* ---- output ---- */

void show(const struct survey *survey);
/** Returns: false: no memory, or writing failed */
bool show_json(const struct survey *survey);

#endif
