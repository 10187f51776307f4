/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Clients of WSK: registered, with the provider captured, gone. One lock is for all of them; it is
 * held for a few instructions, so that it can be taken at DISPATCH_LEVEL. Start with WskRegister().
 */
#include "wsk_client.h"

#include <plx_io.h>
#include <plx_ke.h>

#include <pthread.h>
#include <stdlib.h>

struct _WSK_CLIENT {
	USHORT version;
	pthread_cond_t idle;
	ULONG captures, calls, adapters;
	bool is_gone; /* deregistered with adapters open: it lives until the last is closed */
};

/* ReservedRegistrationState: not what memory has that was never registered. */
#define REGISTERED   UINT64_C(0x57534b2072656721)
#define DEREGISTERED UINT64_C(0x57534b20676f6e65)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t registered;

static uint64_t
count_registered(void)
{
	return registered;
}

static void
client_free(PWSK_CLIENT client)
{
	pthread_cond_destroy(&client->idle);
	free(client);
}

/* ---- registering ---- */

NTSTATUS
WskRegister(PWSK_CLIENT_NPI npi, PWSK_REGISTRATION registration)
{
	static const struct plx_io_watch watch = {"WSK registration", count_registered, false};
	PWSK_CLIENT client;

	plx_ke_require("WskRegister", PASSIVE_LEVEL);
	if (npi == NULL || npi->Dispatch == NULL || registration == NULL)
		return STATUS_INVALID_PARAMETER;
	client = calloc(1, sizeof(*client));
	if (client == NULL)
		return STATUS_INSUFFICIENT_RESOURCES;
	client->version = npi->Dispatch->Version;
	pthread_cond_init(&client->idle, NULL);
	plx_io_watch(&watch);
	registered++;
	*registration = (WSK_REGISTRATION){.ReservedRegistrationState = REGISTERED,
					   .ReservedRegistrationContext = client};
	return STATUS_SUCCESS;
}

/* The client of a registration, with the lock. Returns: NULL: it has none */
static PWSK_CLIENT
client_of(const WSK_REGISTRATION *registration)
{
	return registration->ReservedRegistrationState == REGISTERED
		       ? registration->ReservedRegistrationContext
		       : NULL;
}

VOID
WskDeregister(PWSK_REGISTRATION registration)
{
	PWSK_CLIENT client;
	ULONG adapters;

	plx_ke_require("WskDeregister", PASSIVE_LEVEL);
	pthread_mutex_lock(&lock);
	client = client_of(registration);
	if (client == NULL) {
		pthread_mutex_unlock(&lock);
		if (plx_ke_checks())
			plx_wdk_stop("WskDeregister was given what is not registered");
		return;
	}
	registration->ReservedRegistrationState = DEREGISTERED;
	while (client->captures > 0 || client->calls > 0)
		pthread_cond_wait(&client->idle, &lock);
	registration->ReservedRegistrationContext = NULL;
	adapters = client->adapters;
	client->is_gone = true;
	pthread_mutex_unlock(&lock);
	registered--;
	if (adapters == 0)
		client_free(client);
	else if (plx_ke_checks())
		plx_wdk_stop("WskDeregister was called while NDK adapters of the client are "
			     "open (%u); close them by WskCloseNdkAdapter before",
			     (unsigned int)adapters);
}

/* ---- capturing ---- */

NTSTATUS
WskCaptureProviderNPI(PWSK_REGISTRATION registration, ULONG timeout, PWSK_PROVIDER_NPI npi)
{
	NTSTATUS status = STATUS_SUCCESS;
	PWSK_CLIENT client;

	plx_ke_require("WskCaptureProviderNPI",
		       timeout == WSK_NO_WAIT ? DISPATCH_LEVEL : PASSIVE_LEVEL);
	if (registration == NULL || npi == NULL)
		return STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	client = client_of(registration);
	if (client == NULL)
		status = STATUS_DEVICE_NOT_READY;
	else if (client->version != WSK_VERSION)
		status = STATUS_NOINTERFACE;
	else
		client->captures++;
	pthread_mutex_unlock(&lock);
	if (status == STATUS_SUCCESS)
		*npi = (WSK_PROVIDER_NPI){.Client = client, .Dispatch = &wsk_provider};
	return status;
}

VOID
WskReleaseProviderNPI(PWSK_REGISTRATION registration)
{
	PWSK_CLIENT client;
	bool is_captured;

	plx_ke_require("WskReleaseProviderNPI", DISPATCH_LEVEL);
	pthread_mutex_lock(&lock);
	/* also while WskDeregister() waits for it */
	client = registration->ReservedRegistrationState == DEREGISTERED
			 ? registration->ReservedRegistrationContext
			 : client_of(registration);
	is_captured = client != NULL && client->captures > 0;
	if (is_captured && --client->captures == 0)
		pthread_cond_broadcast(&client->idle);
	pthread_mutex_unlock(&lock);
	if (!is_captured && plx_ke_checks())
		plx_wdk_stop("WskReleaseProviderNPI was called more often than "
			     "WskCaptureProviderNPI has succeeded");
}

NTSTATUS
WskQueryProviderCharacteristics(PWSK_REGISTRATION registration,
				PWSK_PROVIDER_CHARACTERISTICS characteristics)
{
	bool is_registered;

	plx_ke_require("WskQueryProviderCharacteristics", DISPATCH_LEVEL);
	if (registration == NULL || characteristics == NULL)
		return STATUS_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	is_registered = client_of(registration) != NULL;
	pthread_mutex_unlock(&lock);
	if (!is_registered)
		return STATUS_DEVICE_NOT_READY;
	*characteristics = (WSK_PROVIDER_CHARACTERISTICS){.HighestVersion = WSK_VERSION,
							  .LowestVersion = WSK_VERSION};
	return STATUS_SUCCESS;
}

/* ---- calls of the provider's table ---- */

void
client_enter(PWSK_CLIENT client, const char *call, KIRQL max)
{
	bool is_captured;

	plx_ke_require(call, max);
	pthread_mutex_lock(&lock);
	client->calls++;
	is_captured = client->captures > 0;
	pthread_mutex_unlock(&lock);
	if (!is_captured && plx_ke_checks())
		plx_wdk_stop("%s was called by a client that has released the provider", call);
}

void
client_leave(PWSK_CLIENT client, int adapters)
{
	bool is_last;

	pthread_mutex_lock(&lock);
	client->calls--;
	client->adapters += (ULONG)adapters;
	if (client->calls == 0)
		pthread_cond_broadcast(&client->idle);
	is_last = client->is_gone && client->calls == 0 && client->adapters == 0;
	pthread_mutex_unlock(&lock);
	if (is_last)
		client_free(client);
}
