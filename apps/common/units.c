/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sizes, durations and addresses: parsing and formatting.
 * It never guesses: input that is not fully understood is refused. Start with parse_bytes().
 */
#include "units.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scale_letters[] = "KMG";

bool
why_set(struct plx_why *why, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(why->text, sizeof(why->text), format, arguments);
	va_end(arguments);
	return false;
}

bool
parse_bytes(const char *text, uint64_t *out)
{
	char *end;
	if (!isdigit((unsigned char)text[0]))
		return false;
	uint64_t value = strtoull(text, &end, 10);
	uint32_t shift = 0;
	if (*end != '\0') {
		const char *letter = strchr(scale_letters, toupper((unsigned char)*end));
		if (letter == NULL)
			return false;
		shift = 10 * (uint32_t)(letter - scale_letters + 1);
		end++;
		if (end[0] == 'i' && end[1] == 'B')
			end += 2;
	}
	if (*end != '\0' || value > (UINT64_C(1) << 62) >> shift)
		return false;
	*out = value << shift;
	return true;
}

bool
parse_duration_ms(const char *text, uint32_t *out)
{
	char *end;
	if (!isdigit((unsigned char)text[0]))
		return false;
	double value = strtod(text, &end);
	if (strcmp(end, "ms") != 0) {
		if (end[0] != '\0' && strcmp(end, "s") != 0)
			return false;
		value *= 1000;
	}
	if (!(value <= 3600.0 * 1000))
		return false;
	*out = (uint32_t)lround(value);
	return true;
}

bool
parse_ip(const char *text, struct plx_ip *ip)
{
	*ip = (struct plx_ip){0};
	if (inet_pton(AF_INET, text, ip->v) == 1)
		ip->version = 4;
	else if (inet_pton(AF_INET6, text, ip->v) == 1)
		ip->version = 6;
	return ip->version != 0;
}

bool
parse_address(const char *text, struct plx_ip *ip, uint8_t *prefix_bits)
{
	char host[64], *end;
	const char *slash = strchr(text, '/');
	if (slash == NULL || (size_t)(slash - text) >= sizeof(host) ||
	    !isdigit((unsigned char)slash[1]))
		return false;
	memcpy(host, text, (size_t)(slash - text));
	host[slash - text] = '\0';
	if (!parse_ip(host, ip))
		return false;
	unsigned long bits = strtoul(slash + 1, &end, 10);
	*prefix_bits = (uint8_t)bits;
	return *end == '\0' && bits >= 1 && bits <= (ip->version == 4 ? 32 : 128);
}

const char *
ip_text(const struct plx_ip *ip, char *text, size_t size)
{
	const char *done =
		inet_ntop(ip->version == 4 ? AF_INET : AF_INET6, ip->v, text, (socklen_t)size);
	return done != NULL ? done : "?";
}

char *
bytes_text(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
	uint32_t scale = 0;
	while (scale < 3 && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		scale++;
	}
	snprintf(text, size, "%llu %s", (unsigned long long)bytes, units[scale]);
	return text;
}

char *
printable_text(const uint8_t *said, uint32_t length, char *text, size_t size)
{
	size_t n = 0;
	for (uint32_t i = 0; i < length && n < size - 1; i++) {
		if (said[i] >= ' ' && said[i] < 0x7f)
			text[n++] = (char)said[i];
	}
	text[n] = '\0';
	return text;
}
