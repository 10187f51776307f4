# SPDX-License-Identifier: BSD-3-Clause
#
# Of one source: its trace headers. pollux-tmh calls it with the source as its argument, folders to
# search and the one to write to in the environment, and `types`, the header that knows what may
# stand between "%!" and "!". Start at the end, with BEGIN.

function fail(where, text) {
	print where ": " text | "cat 1>&2"
	close("cat 1>&2")
	failed = 1
	exit 1
}

function readable(path,    line, got) {
	got = (getline line < path)
	close(path)
	return got >= 0
}

# The file that an #include of `path` means, or nothing: only what is the driver's own is looked into.
function found(name, quoted, path,    at, i) {
	at = path
	if (!sub(/[^\/]*$/, "", at))
		at = ""
	if (name ~ /^\//)
		return readable(name) ? name : ""
	if (quoted && readable(at name))
		return at name
	for (i = 1; i <= folders; i++)
		if (folder[i] != "" && readable(folder[i] "/" name))
			return folder[i] "/" name
	return ""
}

# ---- configuration ----

# One statement of a block: FUNC, USEPREFIX, USESUFFIX; the others are of the preprocessor alone.
function configure(text, where,    word) {
	if (!match(text, /^[A-Za-z_]+/))
		return
	word = substr(text, 1, RLENGTH)
	text = substr(text, RLENGTH + 1)
	sub(/^[ \t]+/, "", text)
	sub(/[ \t;]+$/, "", text)
	if (word == "FUNC")
		declare(text, where)
	else if (word == "USEPREFIX" || word == "USESUFFIX")
		surround(word, text, where)
	else if (word == "CUSTOM_TYPE" || word == "TYPEMACRO")
		named(text, where)
	else if (word == "DEFINE_CPLX_TYPE")
		complex(text, where)
	else if (word == "WPP_FLAGS")
		flag(text, where)
	else if (word ~ /^DEFINE_/)
		fail(where, word " is not here: say how the value is printed in the message")
}

# A statement's parameters without parentheses, split at commas outside of parentheses and quotes.
# Returns: how many
function parameters_of(text, part,    i, c, depth, count, quoted) {
	sub(/^[ \t]*\([ \t]*/, "", text)
	sub(/[ \t]*\)[ \t]*$/, "", text)
	count = 1
	part[1] = ""
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "\"")
			quoted = !quoted
		depth += (c == "(") - (c == ")")
		if (c == "," && depth == 0 && !quoted)
			part[++count] = ""
		else
			part[count] = part[count] c
	}
	for (i = 1; i <= count; i++)
		gsub(/^[ \t]+|[ \t]+$/, "", part[i])
	return count
}

# CUSTOM_TYPE(Name, ItemListLong(A, B)), ItemSetLong(A, B) or ItemEnum(name)
function named(text, where,    part, list, kind, count, i, key) {
	if (parameters_of(text, part) < 2 || !match(part[2], /^Item[A-Za-z]+/))
		fail(where, "a type has no list: " text)
	key = toupper(part[1])
	kind = substr(part[2], 1, RLENGTH)
	text = substr(part[2], RLENGTH + 1)
	# TYPEMACRO(Name, ItemListLong, (A, B)) is the same
	count = parameters_of(text == "" ? part[3] : text, list)
	names[key] = ""
	if (kind == "ItemEnum") {
		enumeration[key] = list[1]
		sub(/^enum[ \t]+/, "", enumeration[key])
	} else if (kind ~ /^Item(List|Set)(Byte|Short|Long|ByteShort|ByteLong)$/)
		for (i = 1; i <= count; i++) {
			gsub(/["\\]/, "", list[i])
			names[key] = names[key] "{" (kind ~ /^ItemSet/ ? "1LL << " i - 1 : i - 1) ", \"" list[i] "\"}, "
		}
	else
		fail(where, kind " is not here: names are in ItemList, ItemSet and ItemEnum")
	item[key] = kind ~ /^ItemSet/ ? "PLX_WPP_SET" : "PLX_WPP_LIST"
	custom[key] = ++customs
	custom_name[customs] = key
}

# DEFINE_CPLX_TYPE(Name, HELPER, type, Item, "s", _SIGNATURE_, 0, Slots)
function complex(text, where,    part, key, type) {
	if (parameters_of(text, part) < 4)
		fail(where, "DEFINE_CPLX_TYPE has too few parameters: " text)
	key = toupper(part[1])
	type = part[3]
	if (sub(/[ \t]*&$/, "", type))
		sub(/^const[ \t]+/, "", type)
	if (!(part[4] in items))
		fail(where, part[4] " is not here: complex types are bytes, text, addresses and GUIDs")
	item[key] = items[part[4]]
	helper[key] = part[2]
	argument[key] = type
	custom[key] = ++customs
	custom_name[customs] = key
}

# WPP_FLAGS(-DNAME(x)=text) or (-DNAME(x) text)
function flag(text, where,    name) {
	sub(/^[ \t]*\([ \t]*/, "", text)
	sub(/[ \t]*\)[ \t]*$/, "", text)
	if (!match(text, /^-D[A-Za-z_][A-Za-z_0-9]*(\([^)]*\))?/))
		fail(where, "WPP_FLAGS has more than -D: " text)
	name = substr(text, 3, RLENGTH - 2)
	text = substr(text, RLENGTH + 1)
	sub(/^[ \t]*=?[ \t]*/, "", text)
	defined = defined "#define " name " " text "\n"
}

# FUNC Name{CONDITION=value, ...}(PARAMETER, ..., MSG, ...)
function declare(text, where,    name, fixed, list, part, count, i, key, value) {
	if (!match(text, /^[A-Za-z_][A-Za-z_0-9]*/))
		fail(where, "FUNC has no name: " text)
	name = substr(text, 1, RLENGTH)
	text = substr(text, RLENGTH + 1)
	gsub(/[ \t]/, "", text)
	if (!(name in has))
		order[++functions] = name
	has[name] = 1
	conditions[name] = values[name] = parameters[name] = ""
	message[name] = more[name] = 0
	if (match(text, /^\{[^}]*\}/)) {
		fixed = substr(text, 2, RLENGTH - 2)
		text = substr(text, RLENGTH + 1)
		count = split(fixed, part, ",")
		for (i = 1; i <= count; i++) {
			key = value = part[i]
			sub(/=.*/, "", key)
			sub(/^[^=]*=/, "", value)
			condition(name, key, value)
		}
	}
	if (text !~ /^\(.*\)$/)
		fail(where, "FUNC " name " has no parameters in parentheses: " text)
	doubled[name] = text ~ /^\(\(.*\)\)$/
	gsub(/[()]/, "", text)
	count = split(text, part, ",")
	for (i = 1; i <= count; i++) {
		if (part[i] == "...") {
			more[name] = 1
			continue
		}
		if (part[i] !~ /^[A-Za-z_][A-Za-z_0-9]*$/)
			fail(where, "FUNC " name " has the parameter " part[i])
		parameters[name] = parameters[name] (parameters[name] == "" ? "" : ", ") part[i]
		if (part[i] == "MSG")
			message[name] = 1
		else
			condition(name, part[i], part[i])
	}
}

function condition(name, key, value) {
	conditions[name] = conditions[name] (conditions[name] == "" ? "" : "_") key
	values[name] = values[name] (values[name] == "" ? "" : ", ") value
	shown[name, key] = (key == value) ? "#" value : "\"" value "\""
}

# USEPREFIX (Name, "text %!TYPE!", ARGUMENT, ...)
function surround(word, text, where,    name, literal) {
	sub(/^\([ \t]*/, "", text)
	sub(/[ \t]*\)$/, "", text)
	if (!match(text, /^[A-Za-z_][A-Za-z_0-9]*[ \t]*,[ \t]*/))
		fail(where, word " has no name: " text)
	name = substr(text, 1, RLENGTH)
	text = substr(text, RLENGTH + 1)
	gsub(/[ \t,]/, "", name)
	if (!match(text, /^"([^"\\]|\\.)*"/))
		fail(where, word " has no text: " text)
	literal = substr(text, 1, RLENGTH)
	text = substr(text, RLENGTH + 1)
	sub(/^[ \t]*,?[ \t]*/, "", text)
	known_types(literal, where)
	around[word, name] = literal
	arguments[word, name] = text == "" ? "" : ", " text
}

# ---- reading ----

# What may stand in a message, from the header.
function read_types(    line) {
	while ((getline line < types) > 0)
		if (match(line, /^[ \t]*T\([A-Z_0-9]+,/)) {
			sub(/^[ \t]*T\(/, "", line)
			sub(/,.*/, "", line)
			known[line] = 1
		}
	close(types)
}

function known_types(line, where,    name) {
	if (line !~ /"/)
		return
	while (match(line, /%[0-9]*![A-Za-z_0-9.]+!/)) {
		name = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		if (name !~ /^%!/)
			fail(where, name ": messages do not number their arguments here")
		gsub(/[%!]/, "", name)
		used[toupper(name)] = where
	}
}

# A line without // and what else begins a line of a comment.
function bare(line) {
	sub(/^[ \t]*(\/\/+|\/\*+|\*+)?[ \t]*/, "", line)
	sub(/[ \t\r]*(\*\/)?[ \t\r]*$/, "", line)
	return line
}

function read_file(path,    line, number, inside, statement, began, name, to, quoted) {
	if (path in seen)
		return
	seen[path] = 1
	while ((getline line < path) > 0) {
		number++
		sub(/\r$/, "", line)
		if (line ~ /begin_wpp[ \t]+config/) {
			inside = 1
			continue
		}
		if (inside && line ~ /end_wpp/) {
			configure(statement, path ":" began)
			statement = ""
			inside = 0
			continue
		}
		if (inside) {
			line = bare(line)
			if (line ~ /^(FUNC|USEPREFIX|USESUFFIX|NOPREFIX|CUSTOM_TYPE|TYPEMACRO|WPP_FLAGS|DEFINE_[A-Z_]+)[ \t(]/) {
				configure(statement, path ":" began)
				statement = line
				began = number
			} else if (statement !~ /;$/)
				statement = statement " " line
			continue
		}
		known_types(line, path ":" number)
		if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/)
			continue
		name = line
		sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
		quoted = name ~ /^"/
		name = substr(name, 2)
		sub(/[">].*/, "", name)
		if (name ~ /\.tmh$/) {
			wanted[++wants] = name
			continue
		}
		to = found(name, quoted, path)
		if (to != "")
			queue[++queued] = to
	}
	close(path)
	if (inside)
		fail(path, "begin_wpp config has no end_wpp")
}

# ---- writing ----

# The macro of one FUNC.
function macro(name,    head, list, callee, given) {
	list = parameters[name]
	if (more[name])
		list = list (list == "" ? "" : ", ") "..."
	callee = doubled[name] ? "PLX_WPP_CALL_" name : name
	head = "#undef " name "\n"
	if (doubled[name])
		head = head "#undef " callee "\n#define " name "(arguments) " callee " arguments\n"
	given = conditions[name] "(" values[name] ")"
	if (conditions[name] == "")
		given = "ALWAYS()"
	return head "#define " callee "(" list ") \\\n" \
		"\tWPP_" pasted(name, "PRE") " \\\n" \
		"\t((void)(PLX_WPP_IF(WPP_" pasted(name, "ENABLED") ") ? PlxWppTrace(&plx_wpp_control, plx_wpp_customs, \\\n" \
		"\t\t" text_of(name, "LEVEL") ", " flags_of(name) ", " text_of(name, "COMPNAME") ", \\\n" \
		"\t\t__func__, __FILE__, __LINE__, \\\n" \
		"\t\t" around["USEPREFIX", name] (message[name] ? " MSG " : " \"\" ") \
		around["USESUFFIX", name] \
		given_to(name) ") : 0)) \\\n" \
		"\tWPP_" pasted(name, "POST") "\n"
}

# Its arguments; with complex types, records among them go by address.
function given_to(name,    list) {
	list = arguments["USEPREFIX", name] (more[name] ? ", ##__VA_ARGS__" : "") arguments["USESUFFIX", name]
	return complexes ? " PLX_WPP_ARGUMENTS(0" list ")" : list
}

# The names of an enumeration, in what has been read: the compiler knows their values.
function enumerators(name,    path, text, line, list, count, i, tag) {
	if (name !~ /^[A-Za-z_][A-Za-z_0-9]*$/)
		return ""
	for (path in seen) {
		text = ""
		while ((getline line < path) > 0) {
			sub(/\r$/, "", line)
			sub(/\/\/.*/, "", line)
			gsub(/\/\*[^*]*\*\//, "", line)
			if (line !~ /^[ \t]*#/)
				text = text " " line
		}
		close(path)
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", text)
		tag = "enum[ \t]+" name "[ \t]*(:[^{]*)?[{][^}]*[}]"
		if (!match(text, tag) && !match(text, "enum[^{};]*[{][^}]*[}][ \t]*" name "[ \t]*[;,]"))
			continue
		text = substr(text, RSTART, RLENGTH)
		sub(/^[^{]*[{]/, "", text)
		sub(/[}].*/, "", text)
		count = split(text, list, ",")
		text = ""
		for (i = 1; i <= count; i++)
			if (match(list[i], /[A-Za-z_][A-Za-z_0-9]*/)) {
				line = substr(list[i], RSTART, RLENGTH)
				text = text "{(LONGLONG)(" line "), \"" line "\"}, "
			}
		return text
	}
	return ""
}

# The tables of the driver's own types that messages use.
function tables(    i, key, text, table) {
	for (i = 1; i <= customs; i++) {
		key = custom_name[i]
		if (!(key in used) || custom[key] != i)
			continue
		if (key in helper) {
			text = text "static inline ULONG\nPlxWppPairs_" key \
				"(struct PLX_WPP_PAIR *to, const void *at)\n{\n" \
				"\ttypedef " argument[key] " argument;\n" \
				"\targument *of = (argument *)(ULONG_PTR)at;\n" \
				"\tstruct PLX_WPP_PAIR pairs[] = {" helper[key] "((*of)) {NULL, 0}};\n" \
				"\tULONG count = sizeof(pairs) / sizeof(pairs[0]) - 1;\n\n" \
				"\tfor (ULONG i = 0; i < count && i < PLX_WPP_PAIRS_MAX; i++)\n" \
				"\t\tto[i] = pairs[i];\n\treturn count;\n}\n"
			table = table "\t{\"" key "\", " item[key] ", NULL, PlxWppPairs_" key \
				", PLX_WPP_IS_RECORD(" argument[key] ")},\n"
		} else {
			if (key in enumeration)
				names[key] = enumerators(enumeration[key])
			text = text "static const struct PLX_WPP_NAME PlxWppNames_" key "[] = {" names[key] "{0, NULL}};\n"
			table = table "\t{\"" key "\", " item[key] ", PlxWppNames_" key ", NULL, 0},\n"
		}
	}
	return text "static const struct PLX_WPP_CUSTOM plx_wpp_customs[] = {\n" table \
		"\t{NULL, PLX_WPP_LIST, NULL, NULL, 0}};\n"
}

function pasted(name, end) {
	return (conditions[name] == "" ? "ALWAYS" : conditions[name]) "_" end "(" values[name] ")"
}

function text_of(name, key) {
	# DoTraceMessage calls its flag LEVEL
	if (key == "LEVEL" && name == "DoTraceMessage")
		return "\"\""
	return ((name, key) in shown) ? shown[name, key] : "\"\""
}

function flags_of(name) {
	if (name == "DoTraceMessage")
		return "#LEVEL"
	return ((name, "FLAGS") in shown) ? shown[name, "FLAGS"] : text_of(name, "FLAG")
}

function defaults(name,    stem) {
	stem = "WPP_" (conditions[name] == "" ? "ALWAYS" : conditions[name])
	return "#ifndef " stem "_PRE\n#define " stem "_PRE(...)\n#endif\n" \
		"#ifndef " stem "_POST\n#define " stem "_POST(...)\n#endif\n" \
		"#ifndef " stem "_ENABLED\n#define " stem "_ENABLED(...) 1\n#endif\n"
}

# Replace a file whole, and only by another text, so that builds at once and builds after are right.
function write(path, text,    old, line, temporary, quoted) {
	old = ""
	while ((getline line < path) > 0)
		old = old line "\n"
	close(path)
	if (old == text)
		return
	quoted = path
	gsub(/'/, "'\\''", quoted)
	temporary = path "." token
	if (path ~ /\//) {
		line = quoted
		sub(/\/[^\/]*$/, "", line)
		system("mkdir -p -- '" line "'")
	}
	printf "%s", text > temporary
	close(temporary)
	if (system("mv -f -- '" quoted "." token "' '" quoted "'"))
		fail(path, "cannot be written")
}

BEGIN {
	folders = split(ENVIRON["POLLUX_TMH_FOLDERS"], folder, "\n")
	"echo $PPID" | getline token
	close("echo $PPID")
	source = ARGV[1]
	if (!readable(source))
		fail(source, "cannot be read")
	read_types()
	split("ItemHEXDump PLX_WPP_HEXDUMP ItemHexBytes PLX_WPP_HEXDUMP ItemString PLX_WPP_TEXT " \
		"ItemPString PLX_WPP_TEXT ItemWString PLX_WPP_WIDE_TEXT ItemPWString PLX_WPP_WIDE_TEXT " \
		"ItemGuid PLX_WPP_GUID ItemIPAddr PLX_WPP_IPV4 ItemIPV6Addr PLX_WPP_IPV6 " \
		"ItemMACAddr PLX_WPP_MAC", pair, " ")
	for (i = 1; i in pair; i += 2)
		items[pair[i]] = pair[i + 1]
	declare("DoTraceMessage(LEVEL,MSG,...)", "here")
	queue[queued = 1] = source
	for (next_one = 1; next_one <= queued; next_one++)
		read_file(queue[next_one])
	for (name in used)
		if (!(name in known) && !(name in custom))
			fail(used[name], "%!" name "! is not here")
	text = "/* Made by pollux-tmh of " source "; see plx_wpp.h. */\n#pragma GCC system_header\n" \
		"#include <plx_wpp.h>\n" \
		"#ifndef PLX_WPP_TABLES\n#define PLX_WPP_TABLES\n" defined tables() "#endif\n"
	for (key in helper)
		complexes++
	for (i = 1; i <= functions; i++)
		text = text defaults(order[i]) macro(order[i])
	text = text "#if defined(WPP_CONTROL_GUIDS) && !defined(PLX_WPP_BITS)\n#define PLX_WPP_BITS 1\n" \
		"enum { WPP_CONTROL_GUIDS PLX_WPP_BITS_USED };\n#endif\n"
	for (i = 1; i <= wants; i++)
		write(ENVIRON["POLLUX_TMH_OUT"] "/" wanted[i], text)
	exit 0
}
