/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The providers of the catalog, for the helpers: which there are, their libraries, loaded while
 * somebody is in them or they say that they are in use. Start with providers_get().
 *
 * Threads: any; a provider's own code runs without our lock, but when it is loaded, asked whether
 * it can go, and unloaded.
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

/** The ND2 providers that the catalog has now, held until providers_put().
 * Errors: ND_NO_MEMORY, ND_UNSUCCESSFUL (the catalog cannot be read) */
HRESULT providers_get(struct providers *out);

/** Each library is unloaded that nobody else is in and that says it can go. */
void providers_put(struct providers *list);

/** Load the library when it is not, and ask it for its provider object, the caller's to Release.
 * Errors: ND_DEVICE_NOT_READY; providers_complain() says why */
HRESULT provider_open(struct provider *provider, IND2Provider **out);

/** Note that a provider has failed a call. */
void provider_failed(struct provider *provider, const char *call, HRESULT status);

/** Unload what can go. */
void providers_flush(void);

/** The sentences of providers that could not be loaded or asked, appended. Returns: how many */
uint32_t providers_complain(char *text, size_t size);

#endif
