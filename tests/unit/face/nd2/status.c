/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The mapping of every status to ND2's, compared with a separate table: including statuses of
 * completions that no client can cause.
 */
#include <ntstatus.h>

#include "test.h"
#include "nd2.h"

#define DATA_ERROR ((HRESULT)STATUS_DATA_ERROR)

static const struct {
	uint8_t status;
	HRESULT sent, received;
} completions[] = {
	{PLX_WC_SUCCESS, ND_SUCCESS, ND_SUCCESS},
	{PLX_WC_LOCAL_LENGTH, ND_DATA_OVERRUN, ND_BUFFER_OVERFLOW},
	{PLX_WC_LOCAL_PROTECTION, ND_ACCESS_VIOLATION, ND_ACCESS_VIOLATION},
	{PLX_WC_LOCAL_INVALIDATE, ND_INVALID_DEVICE_REQUEST, ND_INVALID_DEVICE_REQUEST},
	{PLX_WC_FLUSHED, ND_CANCELED, ND_CANCELED},
	{PLX_WC_BAD_RESPONSE, DATA_ERROR, DATA_ERROR},
	{PLX_WC_REMOTE_INVALID_REQUEST, DATA_ERROR, DATA_ERROR},
	{PLX_WC_REMOTE_ACCESS, ND_ACCESS_VIOLATION, ND_ACCESS_VIOLATION},
	{PLX_WC_REMOTE_OPERATION, DATA_ERROR, DATA_ERROR},
	{PLX_WC_RETRY_EXCEEDED, ND_IO_TIMEOUT, ND_IO_TIMEOUT},
	{PLX_WC_RNR_RETRY_EXCEEDED, ND_IO_TIMEOUT, ND_IO_TIMEOUT},
};

static void
each_completion_has_its_word(void **state)
{
	const size_t n = sizeof(completions) / sizeof(completions[0]);

	(void)state;
	assert_int_equal(n, PLX_WC_COUNT);
	for (size_t i = 0; i < n; i++) {
		uint8_t status = completions[i].status;

		assert_int_equal(nd2_completion_status(status, false), completions[i].sent);
		assert_int_equal(nd2_completion_status(status, true), completions[i].received);
	}
	for (int status = PLX_WC_COUNT; status < 256; status++)
		assert_int_equal(nd2_completion_status((uint8_t)status, false), ND_INTERNAL_ERROR);
}

/* None that fails is taken for a success, or for something that pends. */
static void
each_refusal_has_its_word(void **state)
{
	(void)state;
	assert_int_equal(nd2_call_status(PLX_OK), ND_SUCCESS);
	for (int status = PLX_OK + 1; status < PLX_STATUS_COUNT; status++)
		assert_true(FAILED(nd2_call_status((enum plx_status)status)));
	assert_int_equal(nd2_call_status(PLX_TOO_LONG), ND_BUFFER_OVERFLOW);
	assert_int_equal(nd2_call_status(PLX_TOO_MANY_SGES), ND_DATA_OVERRUN);
	assert_int_equal(nd2_call_status(PLX_DENIED), ND_ACCESS_VIOLATION);
	assert_int_equal(nd2_call_status(PLX_BUSY), ND_DEVICE_BUSY);
	assert_int_equal(nd2_call_status(PLX_STATE), ND_INVALID_DEVICE_STATE);
	assert_int_equal(nd2_call_status(PLX_NO_MEMORY), ND_NO_MEMORY);
	assert_int_equal(nd2_call_status(PLX_FULL), ND_INSUFFICIENT_RESOURCES);
	assert_int_equal(nd2_call_status(PLX_STATUS_COUNT), ND_INTERNAL_ERROR);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_completion_has_its_word),
		cmocka_unit_test(each_refusal_has_its_word),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
