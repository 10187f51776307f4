/* SPDX-License-Identifier: BSD-3-Clause
 *
 * TraceLogging's macros: nobody listens, so an event evaluates nothing.
 */
#include "wide.h"

#include <traceloggingprovider.h>

TRACELOGGING_DEFINE_PROVIDER(provider, "Pollux.Test",
			     (0xb3864c38, 0x4273, 0x58c5, 0x54, 0x5b, 0x8b, 0x36, 0x08, 0x34, 0x34,
			      0x71));

static ULONG evaluated;

static void
an_event_that_nobody_hears_evaluates_nothing(void **state)
{
	(void)state;
	assert_int_equal(TraceLoggingRegister(provider), STATUS_SUCCESS);
	assert_false(TraceLoggingProviderEnabled(provider, WINEVENT_LEVEL_CRITICAL, (ULONGLONG)-1));
	TraceLoggingWrite(provider, "Event", TraceLoggingLevel(WINEVENT_LEVEL_CRITICAL),
			  TraceLoggingUInt32(++evaluated, "Evaluated"),
			  TraceLoggingBinary(&evaluated, evaluated++));
	TraceLoggingWriteActivity(provider, "Activity", NULL, NULL,
				  TraceLoggingInt32((INT32)evaluated++));
	assert_int_equal(evaluated, 0);
	TraceLoggingUnregister(provider);
}

static void
a_provider_knows_its_id(void **state)
{
	static const GUID id = {
		0xb3864c38, 0x4273, 0x58c5, {0x54, 0x5b, 0x8b, 0x36, 0x08, 0x34, 0x34, 0x71}};
	GUID got = TraceLoggingProviderId(provider);

	(void)state;
	assert_memory_equal(&got, &id, sizeof(id));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_that_nobody_hears_evaluates_nothing),
		cmocka_unit_test(a_provider_knows_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
