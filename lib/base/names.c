/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Texts of the shared enums. It holds no state and formats nothing.
 * Each table is generated from the X-list of its enum, so no entry can be missing.
 */
#include "plx_base.h"

#define STATUS(name, text)   [PLX_##name] = text,
#define WC(name, text)       [PLX_WC_##name] = text,
#define EVENT(name, text)    [PLX_EVENT_##name] = text,
#define CM_EVENT(name, text) [PLX_CM_EVENT_##name] = text,

PLX_TEXT_FUNCTION(plx_status_text, enum plx_status, PLX_STATUS_COUNT, PLX_STATUS_LIST, STATUS,
		  "not a status")
PLX_TEXT_FUNCTION(plx_wc_text, enum plx_wc_status, PLX_WC_COUNT, PLX_WC_LIST, WC,
		  "not a completion status")
PLX_TEXT_FUNCTION(plx_event_text, enum plx_event_kind, PLX_EVENT_COUNT, PLX_EVENT_LIST, EVENT,
		  "not an event")
PLX_TEXT_FUNCTION(plx_cm_event_text, enum plx_cm_event_kind, PLX_CM_EVENT_COUNT, PLX_CM_EVENT_LIST,
		  CM_EVENT, "not an event of a connection")

const char *
plx_cm_reason_text(uint32_t reason)
{
	static const char *const texts[] = {
#define PLX_X(name, value, text) [value] = text,
		PLX_CM_REASON_LIST(PLX_X)
#undef PLX_X
	};

	if (reason >= sizeof texts / sizeof texts[0] || !texts[reason])
		return "not a known reason";
	return texts[reason];
}

const char *
plx_qp_state_name(enum plx_qp_state state)
{
	static const char *const names[PLX_QP_STATE_COUNT] = {
		[PLX_QP_NONE] = "none",   [PLX_QP_RESET] = "reset", [PLX_QP_INIT] = "init",
		[PLX_QP_RTR] = "rtr",     [PLX_QP_RTS] = "rts",     [PLX_QP_SQD] = "sqd",
		[PLX_QP_ERROR] = "error",
	};

	return (unsigned)state < PLX_QP_STATE_COUNT ? names[state] : "?";
}
