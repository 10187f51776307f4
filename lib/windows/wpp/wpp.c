/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Messages of traces, with WPP's formats, printed by DbgPrintEx. What a message knows by name is
 * said in words here; every other directive goes to Rtl's formatter with its argument. It never
 * decides what is traced: the macros of a trace header do. Start at PlxWppTrace().
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plx_rtl.h"

#include <ip2string.h>
#include <ntstrsafe.h>
#include <plx_wpp.h>
#include <wdmdebug.h>

#define TRACE_LINE_BYTES      500 /* DbgPrintEx writes 512, with the end of the line */
#define TRACE_DIRECTIVE_BYTES 32
#define TICKS_A_SECOND        10000000LL
#define EPOCH_S               11644473600LL /* from 1601 to 1970 */

enum kind {
	KIND_NONE,
	KIND_INT,
	KIND_QUAD,
	KIND_POINTER
};

#define TRACE_TYPE(name, kind) TRACE_##name,
enum type {
	PLX_WPP_TYPES(TRACE_TYPE) TRACE_TYPES
};
#undef TRACE_TYPE

#define TRACE_TYPE(name, kind) [TRACE_##name] = {#name, KIND_##kind},
static const struct {
	const char *name;
	enum kind kind;
} types[TRACE_TYPES] = {PLX_WPP_TYPES(TRACE_TYPE)};
#undef TRACE_TYPE

/* Where a message comes from, and what of it has been written. */
struct message {
	const char *level, *flags, *component, *function, *file;
	int line;
	const struct PLX_WPP_CUSTOM *customs;
	size_t used;
	char text[TRACE_LINE_BYTES];
};

/* Add what Rtl's formatter makes of one format; what does not fit is cut. */
static void
add(struct message *m, const char *format, ...)
{
	size_t left = sizeof(m->text) - m->used;
	va_list arguments;

	va_start(arguments, format);
	(void)RtlStringCchVPrintfA(m->text + m->used, left, format, arguments);
	va_end(arguments);
	m->used += strlen(m->text + m->used);
}

static void
add_bytes(struct message *m, const unsigned char *bytes, SIZE_T count, const char *between)
{
	for (SIZE_T i = 0; i < count && m->used + 1 < sizeof(m->text); i++)
		add(m, "%s%02x", i ? between : "", bytes[i]);
}

static void
add_guid(struct message *m, const GUID *id)
{
	add(m, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}", id->Data1, id->Data2,
	    id->Data3, id->Data4[0], id->Data4[1], id->Data4[2], id->Data4[3], id->Data4[4],
	    id->Data4[5], id->Data4[6], id->Data4[7]);
}

/* S-1-5-32-544: a revision, a count, an authority of 48 bits, and as many numbers. */
static void
add_sid(struct message *m, const unsigned char *sid)
{
	ULONGLONG authority = 0;
	ULONG number;

	for (int i = 2; i < 8; i++)
		authority = authority << 8 | sid[i];
	add(m, "S-%u-%I64u", sid[0], authority);
	for (int i = 0; i < sid[1]; i++) {
		memcpy(&number, sid + 8 + 4 * i, sizeof(number));
		add(m, "-%u", number);
	}
}

/* A duration in milliseconds: day~h:mm:ss. */
static void
add_duration(struct message *m, LONGLONG milliseconds)
{
	bool is_negative = milliseconds < 0;
	ULONGLONG seconds =
		(is_negative ? 0 - (ULONGLONG)milliseconds : (ULONGLONG)milliseconds) / 1000;

	add(m, "%s%I64u~%u:%02u:%02u", is_negative ? "-" : "", seconds / 86400,
	    (unsigned)(seconds / 3600 % 24), (unsigned)(seconds / 60 % 60),
	    (unsigned)(seconds % 60));
}

/* A time of Windows, 100 ns from 1601 on: day, clock or both, in UTC. */
static void
add_time(struct message *m, LONGLONG ticks, bool day, bool clock)
{
	time_t seconds = (time_t)(ticks / TICKS_A_SECOND - EPOCH_S);
	struct tm at;

	if (ticks < 0 || !gmtime_r(&seconds, &at)) {
		add(m, "%I64d", ticks);
		return;
	}
	if (day)
		add(m, "%04d-%02d-%02d", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday);
	if (day && clock)
		add(m, " ");
	if (clock)
		add(m, "%02d:%02d:%02d.%03d", at.tm_hour, at.tm_min, at.tm_sec,
		    (int)(ticks % TICKS_A_SECOND / (TICKS_A_SECOND / 1000)));
}

static void
add_none(struct message *m, enum type type)
{
	const char *name = strrchr(m->file, '/');

	if (type == TRACE_LINE)
		add(m, "%d", m->line);
	else if (type == TRACE_STDPREFIX)
		add(m, "%04X.%04X", (int)getpid(), (int)syscall(SYS_gettid));
	else
		add(m, "%s",
		    type == TRACE_FUNC       ? m->function
		    : type == TRACE_FILE     ? (name ? name + 1 : m->file)
		    : type == TRACE_LEVEL    ? m->level
		    : type == TRACE_FLAGS    ? m->flags
		    : type == TRACE_COMPNAME ? m->component
					     : " ");
}

static void
add_int(struct message *m, enum type type, int value)
{
	static const char *const levels[] = {"PASSIVE_LEVEL", "APC_LEVEL", "DISPATCH_LEVEL"};
	const char *name = plx_rtl_status_name(value);
	struct in_addr four;
	char text[16];

	if (type == TRACE_STATUS || type == TRACE_NTSTATUS || type == TRACE_NDIS_STATUS)
		add(m, strncmp(name, "STATUS_", 7) ? "0x%08x" : "0x%08x(%s)", value, name);
	else if (type == TRACE_IRQL && value >= 0 && value < (int)ARRAYSIZE(levels))
		add(m, "%s", levels[value]);
	else if (type == TRACE_HRESULT || type == TRACE_NDIS_OID)
		add(m, "0x%08x", value);
	else if (type == TRACE_BOOL || type == TRACE_BOOLEAN)
		add(m, "%s", value ? "TRUE" : "FALSE");
	else if (type == TRACE_PORT)
		add(m, "%u", ntohs((uint16_t)value));
	else if (type == TRACE_XINT || type == TRACE_XLONG)
		add(m, "0x%x", value);
	else if (type == TRACE_SINT || type == TRACE_SLONG)
		add(m, "%d", value);
	else if (type == TRACE_IPADDR) {
		four.s_addr = (uint32_t)value;
		RtlIpv4AddressToStringA(&four, text);
		add(m, "%s", text);
	} else
		add(m, "%u", value);
}

static void
add_quad(struct message *m, enum type type, LONGLONG value)
{
	if (type == TRACE_SINT64)
		add(m, "%I64d", value);
	else if (type == TRACE_UINT64)
		add(m, "%I64u", value);
	else if (type == TRACE_XINT64)
		add(m, "0x%I64x", value);
	else if (type == TRACE_DELTA || type == TRACE_DUE || type == TRACE_WAITTIME)
		add_duration(m, value);
	else
		add_time(m, value, type != TRACE_TIME, type != TRACE_DATE);
}

static void
add_pointer(struct message *m, enum type type, const void *value)
{
	char text[46];

	if (type == TRACE_PTR || type == TRACE_HANDLE)
		add(m, "%p", value);
	else if (!value)
		add(m, "(null)");
	else if (type == TRACE_IPV6ADDR) {
		RtlIpv6AddressToStringA((const struct in6_addr *)value, text);
		add(m, "%s", text);
	} else if (type == TRACE_ASTR)
		add(m, "%s", value);
	else if (type == TRACE_WSTR)
		add(m, "%ws", value);
	else if (type == TRACE_ANSTR)
		add(m, "%Z", value);
	else if (type == TRACE_USTR)
		add(m, "%wZ", value);
	else if (type == TRACE_SID)
		add_sid(m, value);
	else
		add_guid(m, value);
}

/* ---- the driver's own types ---- */

static void
add_names(struct message *m, const struct PLX_WPP_CUSTOM *custom, int value)
{
	bool is_set = custom->Item == PLX_WPP_SET;
	LONGLONG left = is_set ? (LONGLONG)(ULONG)value : value;
	const char *before = "[";

	for (const struct PLX_WPP_NAME *name = custom->Names; name && name->Text; name++) {
		if (!is_set && name->Value == left) {
			add(m, "%s", name->Text);
			return;
		}
		if (is_set && left & name->Value) {
			add(m, "%s%s", before, name->Text);
			left &= ~name->Value;
			before = ",";
		}
	}
	if (!is_set)
		add(m, "%d", value);
	else if (left)
		add(m, "%s0x%I64x]", before, left);
	else
		add(m, "%s]", *before == ',' ? "" : before);
}

static void
add_memory(struct message *m, enum PLX_WPP_ITEM item, const void *bytes, SIZE_T size)
{
	SIZE_T needed = item == PLX_WPP_GUID || item == PLX_WPP_IPV6 ? 16
			: item == PLX_WPP_IPV4                       ? 4
								     : 0;
	int cut = size < TRACE_LINE_BYTES ? (int)size : TRACE_LINE_BYTES;
	char text[46];

	if (!bytes)
		add(m, "(null)");
	else if (item == PLX_WPP_TEXT)
		add(m, "%.*s", cut, bytes);
	else if (item == PLX_WPP_WIDE_TEXT)
		add(m, "%.*ws", cut / (int)sizeof(WCHAR), bytes);
	else if (item == PLX_WPP_HEXDUMP || item == PLX_WPP_MAC || size < needed)
		add_bytes(m, bytes, size, item == PLX_WPP_MAC ? "-" : " ");
	else if (item == PLX_WPP_GUID)
		add_guid(m, bytes);
	else if (item == PLX_WPP_IPV6) {
		RtlIpv6AddressToStringA((const struct in6_addr *)bytes, text);
		add(m, "%s", text);
	} else {
		RtlIpv4AddressToStringA((const struct in_addr *)bytes, text);
		add(m, "%s", text);
	}
}

/* What the helper macro of a type makes of its argument: the bytes are what is last. */
static void
add_complex(struct message *m, const struct PLX_WPP_CUSTOM *custom, const void *argument)
{
	struct PLX_WPP_PAIR pairs[PLX_WPP_PAIRS_MAX] = {{NULL, 0}};
	ULONG count;

	if (!argument) {
		add(m, "(null)");
		return;
	}
	count = custom->Pairs(pairs, custom->IsRecord ? argument : (const void *)&argument);
	if (count)
		add_memory(m, custom->Item, pairs[count - 1].Address, pairs[count - 1].Bytes);
}

/* "%!NAME!"; nothing here follows what is no type, which pollux-tmh has refused.
 * Returns: what is behind it; NULL: it is none */
static const char *
add_type(struct message *m, const char *at, va_list *arguments)
{
	const char *end = at[1] == '!' ? strchr(at + 2, '!') : NULL;
	size_t length;

	if (!end)
		return NULL;
	length = (size_t)(end - at - 2);
	for (const struct PLX_WPP_CUSTOM *custom = m->customs; custom && custom->Name; custom++) {
		if (strncasecmp(custom->Name, at + 2, length) || custom->Name[length])
			continue;
		if (custom->Pairs)
			add_complex(m, custom, va_arg(*arguments, const void *));
		else
			add_names(m, custom, va_arg(*arguments, int));
		return end + 1;
	}
	for (enum type type = 0; type < TRACE_TYPES; type++) {
		if (strncasecmp(types[type].name, at + 2, length) || types[type].name[length])
			continue;
		if (types[type].kind == KIND_NONE)
			add_none(m, type);
		else if (types[type].kind == KIND_INT)
			add_int(m, type, va_arg(*arguments, int));
		else if (types[type].kind == KIND_QUAD)
			add_quad(m, type, va_arg(*arguments, LONGLONG));
		else
			add_pointer(m, type, va_arg(*arguments, const void *));
		return end + 1;
	}
	add(m, "%d", va_arg(*arguments, int));
	return end + 1;
}

/* One directive of printf, with its arguments. Returns: what is behind it */
static const char *
add_directive(struct message *m, const char *at, va_list *arguments)
{
	static const char *const wide[] = {"I64", "ll", "z", "t", "j"};
	char directive[TRACE_DIRECTIVE_BYTES], number[16];
	size_t used = 0;
	bool is_wide = false;

	directive[used++] = *at++;
	while (*at && strchr("-+ #0123456789.*", *at) && used < 16) {
		if (*at == '*') {
			(void)RtlStringCchPrintfA(number, sizeof(number), "%d",
						  va_arg(*arguments, int));
			for (const char *c = number; *c && used < 24; c++)
				directive[used++] = *c;
		} else {
			directive[used++] = *at;
		}
		at++;
	}
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		is_wide |= !strncmp(at, wide[i], strlen(wide[i]));
	is_wide |= at[0] == 'I' && !isdigit((unsigned char)at[1]);
	while (*at && (strchr("hlwIzjt", *at) || isdigit((unsigned char)*at)) && used < 29)
		directive[used++] = *at++;
	directive[used] = '\0';
	if (!*at) {
		add(m, "%s", directive); /* no directive after all */
		return at;
	}
	directive[used++] = *at;
	directive[used] = '\0';
	if (strchr("sSZp", *at))
		add(m, directive, va_arg(*arguments, void *));
	else if (is_wide)
		add(m, directive, va_arg(*arguments, LONGLONG));
	else
		add(m, directive, va_arg(*arguments, int));
	return at + 1;
}

/* The level of DbgPrintEx for what the source calls it, by number or by name. */
static ULONG
print_level(const char *level)
{
	static const char *const errors[] = {"FATAL", "CRITICAL", "ERROR"};

	if (isdigit((unsigned char)level[0]))
		return level[0] <= '2'   ? DPFLTR_ERROR_LEVEL
		       : level[0] == '3' ? DPFLTR_WARNING_LEVEL
		       : level[0] == '4' ? DPFLTR_TRACE_LEVEL
					 : DPFLTR_INFO_LEVEL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcasestr(level, errors[i]))
			return DPFLTR_ERROR_LEVEL;
	if (strcasestr(level, "WARN"))
		return DPFLTR_WARNING_LEVEL;
	return strcasestr(level, "VERB") ? DPFLTR_INFO_LEVEL : DPFLTR_TRACE_LEVEL;
}

int
PlxWppTrace(const struct PLX_WPP_CONTROL *control, const struct PLX_WPP_CUSTOM *customs,
	    const char *level, const char *flags, const char *component, const char *function,
	    const char *file, int line, const char *format, ...)
{
	struct message m = {.customs = customs,
			    .level = level,
			    .flags = flags,
			    .component = component,
			    .function = function,
			    .file = file,
			    .line = line};
	const char *at = format, *next;
	va_list arguments;

	if (!control->On)
		return 1;
	va_start(arguments, format);
	while (*at) {
		if (*at != '%') {
			next = at + strcspn(at, "%");
			add(&m, "%.*s", (int)(next - at), at);
			at = next;
		} else if (at[1] == '%') {
			add(&m, "%%");
			at += 2;
		} else {
			next = add_type(&m, at, &arguments);
			at = next ? next : add_directive(&m, at, &arguments);
		}
	}
	va_end(arguments);
	DbgPrintEx(DPFLTR_IHVDRIVER_ID, print_level(level), "%s\n", m.text);
	return 1;
}
