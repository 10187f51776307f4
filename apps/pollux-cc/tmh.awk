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
	else if (word == "CUSTOM_TYPE" && match(text, /^\([ \t]*[A-Za-z_0-9]+/)) {
		text = substr(text, 2, RLENGTH - 1)
		gsub(/[ \t]/, "", text)
		custom[toupper(text)] = 1
	} else if (word ~ /^DEFINE_/)
		fail(where, word " is not here: say how the value is printed in the message")
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
			if (line ~ /^(FUNC|USEPREFIX|USESUFFIX|NOPREFIX|CUSTOM_TYPE|DEFINE_[A-Z_]+)[ \t(]/) {
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
		"\t((void)(PLX_WPP_IF(WPP_" pasted(name, "ENABLED") ") ? PlxWppTrace(&plx_wpp_control, \\\n" \
		"\t\t" text_of(name, "LEVEL") ", " flags_of(name) ", " text_of(name, "COMPNAME") ", \\\n" \
		"\t\t__func__, __FILE__, __LINE__, \\\n" \
		"\t\t" around["USEPREFIX", name] (message[name] ? " MSG " : " \"\" ") \
		around["USESUFFIX", name] \
		arguments["USEPREFIX", name] (more[name] ? ", ##__VA_ARGS__" : "") \
		arguments["USESUFFIX", name] ") : 0)) \\\n" \
		"\tWPP_" pasted(name, "POST") "\n"
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
	declare("DoTraceMessage(LEVEL,MSG,...)", "here")
	queue[queued = 1] = source
	for (next_one = 1; next_one <= queued; next_one++)
		read_file(queue[next_one])
	for (name in used)
		if (!(name in known) && !(name in custom))
			fail(used[name], "%!" name "! is not here")
	text = "/* Made by pollux-tmh of " source "; see plx_wpp.h. */\n#pragma GCC system_header\n" \
		"#include <plx_wpp.h>\n"
	for (i = 1; i <= functions; i++)
		text = text defaults(order[i]) macro(order[i])
	text = text "#if defined(WPP_CONTROL_GUIDS) && !defined(PLX_WPP_BITS)\n#define PLX_WPP_BITS 1\n" \
		"enum { WPP_CONTROL_GUIDS PLX_WPP_BITS_USED };\n#endif\n"
	for (i = 1; i <= wants; i++)
		write(ENVIRON["POLLUX_TMH_OUT"] "/" wanted[i], text)
	exit 0
}
