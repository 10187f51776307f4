/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The providers of the catalog, for the helpers, with their libraries, which stay loaded while a
 * call is in them or they report live objects. Start with providers_get().
 *
 * Threads: any. A provider's code runs without our lock, except while it is loaded, asked whether
 * it can be unloaded, and unloaded.
 */
#ifndef PLX_NDSUPPORT_PROVIDERS_H
#define PLX_NDSUPPORT_PROVIDERS_H

#include <ndspi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct provider;

struct providers {
	struct provider **one; /* [count] in the order of the catalog */
	uint32_t count;
};

/**
 * Get the ND2 providers now in the catalog, held until providers_put().
 * Errors: ND_NO_MEMORY, ND_UNSUCCESSFUL (the catalog cannot be read)
 */
HRESULT providers_get(struct providers *out);

/** Release the providers. Libraries no longer used that report no live objects are unloaded. */
void providers_put(struct providers *list);

/**
 * Load the library if necessary, and get its provider object, which the caller must Release.
 * Errors: ND_DEVICE_NOT_READY; providers_complain() reports why
 */
HRESULT provider_open(struct provider *provider, IND2Provider **out);

/** Note that a provider has failed a call. */
void provider_failed(struct provider *provider, const char *call, HRESULT status);

/** Unload unused libraries. */
void providers_flush(void);

/** Append the messages of providers that could not be loaded or queried. Returns: how many */
uint32_t providers_complain(char *text, size_t size);

#endif
