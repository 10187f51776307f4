/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules in libconfig's syntax. Start with read_rule().
 */
#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"
#include "units.h"

/* Where a mistake is. */
struct place {
	const char *path;
	const config_setting_t *setting;
};

static bool
wrong(const struct place *at, struct plx_why *why, const char *what, const char *value)
{
	plx_why_set(why, "%s:%d: %s = \"%.60s\" %s", at->path,
		    (int)config_setting_source_line(at->setting),
		    config_setting_name(at->setting) != NULL ? config_setting_name(at->setting)
							     : "rule",
		    value, what);
	return false;
}

static bool
read_address(const struct place *at, const char *text, struct san_rule *rule, struct plx_why *why)
{
	if (strcmp(text, "any") == 0 || parse_address(text, &rule->ip, &rule->bits))
		return true;
	if (parse_ip(text, &rule->ip)) {
		rule->bits = rule->ip.version == 4 ? 32 : 128;
		return true;
	}
	return wrong(at, why, "is neither ADDRESS, nor ADDRESS/BITS, nor \"any\"", text);
}

static bool
read_port(const char **at, uint16_t *out)
{
	char *end;
	unsigned long port = strtoul(*at, &end, 10);

	if (end == *at || port < 1 || port > 65535)
		return false;
	*out = (uint16_t)port;
	*at = end;
	return true;
}

static bool
read_ports(const struct place *at, const char *text, struct san_rule *rule, struct plx_why *why)
{
	const char *next = text;

	if (read_port(&next, &rule->first)) {
		rule->last = rule->first;
		if (*next == '\0')
			return true;
		if (*next++ == '-' && read_port(&next, &rule->last) && *next == '\0' &&
		    rule->first <= rule->last)
			return true;
	}
	return wrong(at, why, "is neither a port, 1 to 65535, nor FIRST-LAST", text);
}

static bool
read_use(const struct place *at, const char *text, struct san_rule *rule, struct plx_why *why)
{
	rule->rdma = strcmp(text, "rdma") == 0;
	if (rule->rdma || strcmp(text, "tcp") == 0)
		return true;
	return wrong(at, why, "is neither \"rdma\" nor \"tcp\"", text);
}

static const struct {
	const char *name;
	bool (*read)(const struct place *at, const char *text, struct san_rule *rule,
		     struct plx_why *why);
} settings[] = {
	{"address", read_address},
	{"ports", read_ports},
	{"use", read_use},
};

static bool
read_setting(const struct place *at, struct san_rule *rule, struct plx_why *why)
{
	const char *name = config_setting_name(at->setting);
	const char *text = config_setting_get_string(at->setting);

	for (uint32_t i = 0; i < PLX_COUNT_OF(settings); i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (text == NULL)
			return wrong(at, why, "is no text in quotation marks", "");
		return settings[i].read(at, text, rule, why);
	}
	plx_why_set(why, "%s:%d: there is no setting %.60s; a rule has address, ports and use",
		    at->path, (int)config_setting_source_line(at->setting), name);
	return false;
}

static bool
read_rule(const struct place *at, struct san_rule *rule, struct plx_why *why)
{
	bool uses = config_setting_get_member(at->setting, "use") != NULL;

	*rule = (struct san_rule){.first = 1, .last = 65535};
	if (!config_setting_is_group(at->setting) || !uses) {
		plx_why_set(why,
			    "%s:%d: a rule is { use = \"rdma\" or \"tcp\"; }, with address and "
			    "ports if it is not for all",
			    at->path, (int)config_setting_source_line(at->setting));
		return false;
	}
	for (int i = 0; i < config_setting_length(at->setting); i++) {
		const struct place of = {at->path,
					 config_setting_get_elem(at->setting, (unsigned)i)};

		if (!read_setting(&of, rule, why))
			return false;
	}
	return true;
}

static bool
read_list(const char *path, const config_t *file, struct rules *rules, struct plx_why *why)
{
	const config_setting_t *list = config_lookup(file, "rules");
	int n = list != NULL && config_setting_is_list(list) ? config_setting_length(list) : -1;

	if (n < 0 || n > SAN_RULES_MAX) {
		plx_why_set(why, "%s: it needs rules = ( ... ), a list of at most %d", path,
			    SAN_RULES_MAX);
		return false;
	}
	for (; rules->n < (uint32_t)n; rules->n++) {
		const struct place at = {path, config_setting_get_elem(list, rules->n)};

		if (!read_rule(&at, &rules->rule[rules->n], why))
			return false;
	}
	return true;
}

bool
rules_read(const char *path, struct rules *rules, struct plx_why *why)
{
	config_t file;
	bool read;

	*rules = (struct rules){.n = 0};
	config_init(&file);
	read = config_read_file(&file, path) == CONFIG_TRUE;
	if (read)
		read = read_list(path, &file, rules, why);
	else if (config_error_type(&file) == CONFIG_ERR_FILE_IO)
		plx_why_set(why, "%s cannot be read: %s", path, strerror(errno));
	else
		plx_why_set(why, "%s:%d: %s", path, config_error_line(&file),
			    config_error_text(&file));
	config_destroy(&file);
	return read;
}
