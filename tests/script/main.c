/* SPDX-License-Identifier: BSD-3-Clause
 *
 * plx-script FILE...: plays wire scripts and reports the first line of each that does not hold. It
 * stops at a line that failed, and never passes a script that expects nothing. Start with play()
 * and the table of lines.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "script.h"

enum {
	EXIT_SCRIPT = 1,
	EXIT_USAGE = 4
};

static struct script *playing; /* for plx_assert_failed() */

/* ---- failing ---- */

void
script_trace(struct script *s, const char *format, ...)
{
	char *line = s->trace[s->traced++ % SCRIPT_TRACE_LINES];
	int used = snprintf(line, sizeof(s->trace[0]), "%10.3f us  ",
			    (double)(s->now_ns - PLX_SEC) / 1000);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, sizeof(s->trace[0]) - (size_t)used, format, args);
	va_end(args);
	if (s->verbose)
		printf("%s\n", line);
}

static void
show_place(const struct script *s)
{
	uint32_t first = s->traced > SCRIPT_TRACE_LINES ? s->traced - SCRIPT_TRACE_LINES : 0;

	fprintf(stderr, "\n    %s\nwhat happened before, the newest last:\n", s->text);
	for (uint32_t i = first; i < s->traced; i++)
		fprintf(stderr, "%s\n", s->trace[i % SCRIPT_TRACE_LINES]);
}

void
script_fail(struct script *s, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s:%u: ", s->path, s->line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	show_place(s);
	fflush(stderr);
	_exit(EXIT_SCRIPT);
}

void
plx_assert_failed(const char *expr, const char *file, int line)
{
	fflush(stdout);
	fprintf(stderr, "%s:%d: broken invariant: %s", file, line, expr);
	if (playing != NULL) {
		fprintf(stderr, "\n%s:%u:", playing->path, playing->line);
		show_place(playing);
	}
	abort();
}

/* ---- small lines ---- */

static void
line_fail(struct script *s)
{
	ep_fail(s->ends[next_side(s)].qp);
	wire_serve(s);
}

static void
line_state(struct script *s)
{
	const struct end *end = &s->ends[next_side(s)];
	const char *word = next_word(s, "a state");
	struct plx_rc_view view;

	plx_rc_query(ep_qp_core(end->qp), &view);
	s->expectations++;
	if (state_of(word) <= PLX_QP_NONE)
		script_fail(s, "\"%s\" is not a state", word);
	if (state_of(word) != (int)view.state)
		script_fail(s, "the QP is in %s", plx_qp_state_name(view.state));
}

static void
line_counter(struct script *s)
{
	const struct end *end = &s->ends[next_side(s)];
	const char *word = next_word(s, "a counter");
	const uint64_t *counter = counter_of(plx_rc_counters(ep_qp_core(end->qp)), word);

	s->expectations++;
	if (counter == NULL)
		script_fail(s, "there is no counter %s", word);
	if (next_number(s, "a count", UINT64_MAX) != *counter)
		script_fail(s, "the counter is %" PRIu64, *counter);
}

static void
line_view(struct script *s)
{
	const struct end *end = &s->ends[next_side(s)];
	const char *word = next_word(s, "a field");
	struct plx_rc_view view;
	uint64_t value;

	plx_rc_query(ep_qp_core(end->qp), &view);
	s->expectations++;
	if (!view_of(&view, word, &value))
		script_fail(s, "a QP shows no %s", word);
	if (next_number(s, "a value", UINT64_MAX) != value)
		script_fail(s, "%s is %" PRIu64, word, value);
}

static void
line_arm(struct script *s)
{
	const struct end *end = &s->ends[next_side(s)];

	if (end->qp_config.srq == NULL)
		script_fail(s, "only a shared receive queue is armed");
	plx_rq_arm(end->qp_config.srq, (uint32_t)next_number(s, "a threshold", UINT32_MAX));
}

static void
line_quiet(struct script *s)
{
	s->expectations++;
	wire_expect_nothing(s, "here");
}

/* "run 5s" */
static void
line_run(struct script *s)
{
	wire_run(s, time_of(s, next_word(s, "a time")));
}

/* "A wakes never", "A wakes in 65us" */
static void
end_wakes(struct script *s, enum side side)
{
	uint64_t wake = plx_rc_wake_ns(ep_qp_core(s->ends[side].qp));
	uint64_t want = PLX_NEVER;

	if (accept_word(s, "in"))
		want = s->now_ns + time_of(s, next_word(s, "a time"));
	else if (!accept_word(s, "never"))
		script_fail(s, "expected: wakes never, or wakes in 65us");
	s->expectations++;
	if (wake == want)
		return;
	if (wake == PLX_NEVER)
		script_fail(s, "it never wakes");
	script_fail(s, "it wakes in %.3f us", ((double)wake - (double)s->now_ns) / 1000);
}

/* What `config cc fake` recorded. "A strategy sent=3 acked=2 lost=1 marked=0 notified=0" */
static void
end_strategy(struct script *s, enum side side)
{
	const struct fake_cc *cc = &s->ends[side].cc;
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {{"sent", cc->sent},
		      {"acked", cc->acked},
		      {"lost", cc->lost},
		      {"marked", cc->marked},
		      {"notified", cc->notified}};

	for (size_t i = 0; i < PLX_COUNT_OF(counts); i++) {
		const char *text = accept_value(s, counts[i].name);

		if (text == NULL)
			continue;
		s->expectations++; /* in the order of the list */
		if (number_of(s, text, UINT64_MAX) != counts[i].value)
			script_fail(s, "the strategy was told %s %" PRIu64 " times", counts[i].name,
				    counts[i].value);
	}
}

static void
line_end(struct script *s, enum side side)
{
	struct end *end = &s->ends[side];

	if (accept_word(s, ">")) {
		line_packet(s, side);
	} else if (accept_word(s, "completes")) {
		line_completes(s, side);
	} else if (accept_word(s, "event")) {
		line_event(s, side);
	} else if (accept_word(s, "wakes")) {
		end_wakes(s, side);
	} else if (accept_word(s, "strategy")) {
		end_strategy(s, side);
	} else if (accept_word(s, "holds")) {
		end->cc.hold_until_ns = s->now_ns + time_of(s, next_word(s, "a time"));
	} else if (accept_word(s, "busy")) {
		end->busy = true;
	} else if (accept_word(s, "once")) {
		ep_tx(end->qp, s->now_ns, end->budget);
	} else if (accept_word(s, "idle")) {
		end->busy = false;
		wire_serve(s);
	} else {
		script_fail(s, "%s cannot do that", side_name(side));
	}
}

/* ---- playing ---- */

static void
dispatch(struct script *s)
{
	static const struct {
		const char *word;
		void (*line)(struct script *s);
	} lines[] = {
		{"region", line_region},   {"bind", line_bind},       {"retire", line_retire},
		{"memory", line_memory},   {"word", line_word},       {"scribble", line_scribble},
		{"key", line_key},         {"post", line_post},       {"inject", line_inject},
		{"release", line_release}, {"modify", line_modify},   {"fail", line_fail},
		{"state", line_state},     {"counter", line_counter}, {"view", line_view},
		{"arm", line_arm},         {"quiet", line_quiet},     {"wire", line_wire},
		{"fault", line_fault},     {"run", line_run},
	};

	if (accept_word(s, "config")) {
		line_config(s);
		return;
	}
	setup_connect(s);
	if (s->words[s->word_at][0] == '+')
		wire_advance(s, time_of(s, next_word(s, "a time") + 1));
	if (!more_words(s))
		return;
	if (is_side(s->words[s->word_at])) {
		line_end(s, next_side(s));
		return;
	}
	for (size_t i = 0; i < PLX_COUNT_OF(lines); i++) {
		if (accept_word(s, lines[i].word)) {
			lines[i].line(s);
			return;
		}
	}
	script_fail(s, "\"%s\" begins no line", s->words[s->word_at]);
}

static void
statement(struct script *s, char *text)
{
	uint32_t times = 1;
	char *word, *rest = text;

	s->word_count = 0;
	while ((word = strsep(&rest, " \t\r\n")) != NULL) {
		if (*word == '\0')
			continue;
		if (s->word_count == SCRIPT_WORDS_MAX)
			script_fail(s, "more than %d words", SCRIPT_WORDS_MAX);
		s->words[s->word_count++] = word;
	}
	if (s->word_count == 0)
		return;
	word = s->words[s->word_count - 1];
	if (word[0] == 'x' && is_number(word + 1)) {
		times = (uint32_t)number_of(s, word + 1, 100000);
		s->word_count--;
	}
	for (uint32_t i = 0; i < times; i++) {
		s->word_at = 0;
		dispatch(s);
		if (more_words(s))
			script_fail(s, "\"%s\" has no meaning here", s->words[s->word_at]);
	}
}

static void
play_line(struct script *s, char *line)
{
	char copy[SCRIPT_LINE_MAX];
	char *rest = copy, *text;

	line[strcspn(line, "#\n")] = '\0';
	if (line[strspn(line, " \t")] == '\0')
		return;
	strcpy(copy, line);
	s->text = line;
	if (s->verbose)
		printf("%s:%u: %s\n", s->path, s->line, line);
	while ((text = strsep(&rest, ";")) != NULL)
		statement(s, text);
}

static void
play(const char *path, bool verbose)
{
	struct script *s = calloc(1, sizeof(*s));
	char line[SCRIPT_LINE_MAX];
	FILE *file = fopen(path, "r");

	PLX_ASSERT(s != NULL);
	s->path = path;
	s->verbose = verbose;
	s->text = "";
	if (file == NULL)
		script_fail(s, "%s", strerror(errno));
	playing = s;
	setup_defaults(s);
	while (fgets(line, sizeof(line), file) != NULL) {
		s->line++;
		if (strchr(line, '\n') == NULL)
			script_fail(s, "the line is too long, or has no end");
		play_line(s, line);
	}
	fclose(file);
	s->text = "(the end)";
	if (s->expectations == 0)
		script_fail(s, "the script expects nothing");
	wire_expect_nothing(s, "until the end");
	if (!plx_list_empty(&s->held) || !plx_list_empty(&s->flight))
		script_fail(s, "packets are still held or on their way at the end");
	setup_destroy(s);
	playing = NULL;
	printf("ok: %s, %u expectations\n", path, s->expectations);
	free(s);
}

/* ---- scripts that are wrong on purpose ---- */

/* The text behind "# fails: " in the first line: the message with which the script must fail. */
static void
wanted_failure(const char *path, char *out, int bytes)
{
	static const char prefix[] = "# fails: ";
	FILE *file = fopen(path, "r");
	bool there = file != NULL && fgets(out, bytes, file) != NULL &&
		     strncmp(out, prefix, sizeof(prefix) - 1) == 0;

	if (file != NULL)
		fclose(file);
	if (!there) {
		fprintf(stderr, "%s: the first line must say \"%s...\"\n", path, prefix);
		exit(EXIT_USAGE);
	}
	memmove(out, out + sizeof(prefix) - 1, strlen(out) - sizeof(prefix) + 2);
	out[strcspn(out, "\n")] = '\0';
}

/* Returns: true when the script failed, and with the words it should */
static bool
play_wrong(const char *path)
{
	char want[SCRIPT_LINE_MAX], said[16384];
	size_t used = 0;
	ssize_t got;
	int ends[2], status;
	pid_t child;

	wanted_failure(path, want, sizeof(want));
	PLX_ASSERT(pipe(ends) == 0);
	fflush(NULL);
	child = fork();
	PLX_ASSERT(child >= 0);
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		play(path, false);
		_exit(0);
	}
	close(ends[1]);
	while ((got = read(ends[0], said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = '\0';
	close(ends[0]);
	PLX_ASSERT(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SCRIPT && strstr(said, want) != NULL) {
		printf("ok: %s fails as it should\n", path);
		return true;
	}
	fprintf(stderr, "%s: expected to fail with \"%s\", it said:\n%s\n", path, want, said);
	return false;
}

int
main(int argc, char **argv)
{
	bool wrong = argc > 1 && strcmp(argv[1], "--wrong") == 0;
	bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
	int first = wrong || verbose ? 2 : 1, failed = 0;

	if (first >= argc) {
		fprintf(stderr, "usage: plx-script [-v | --wrong] FILE...\n");
		return EXIT_USAGE;
	}
	for (int i = first; i < argc; i++) {
		if (wrong)
			failed += !play_wrong(argv[i]);
		else
			play(argv[i], verbose);
	}
	return failed ? EXIT_SCRIPT : 0;
}
