# SPDX-License-Identifier: BSD-3-Clause
"""Rules on the pure rooms: no clock, randomness, allocation, output, or state of their own.

Twice: in the sources, where a finding has a line, and in the libraries that were built, where
nothing hides behind a macro.
"""
import re

from rules import rule
from tree import Finding, Tree, code_only, deps, line_of, noun

PURE = re.compile(r'lib/(?:base|proto/\w+)(?=/)')

FORBIDDEN = (
    ('a clock', r'(clock_gettime|gettimeofday|timespec_get|time|clock|nanosleep|usleep|sleep|'
                r'_*rdtscp?|__builtin_ia32_rdtscp?) *\('),
    ('randomness', r'(s?rand|s?random|[dlmn]rand48|getrandom|getentropy|arc4random\w*|'
                   r'_*rd(rand|seed)\w*) *\('),
    ('allocation', r'(malloc|calloc|realloc|free|posix_memalign|aligned_alloc|alloca|strn?dup|'
                   r'mmap|munmap|s?brk) *\('),
    ('output or input', r'(v?[fsd]?n?printf|f?puts|putc(har)?|fputc|fwrite|fread|write|read|open|'
                        r'close|perror|syslog|abort|exit|signal|raise|ioctl|socket) *\('),
    ('DPDK', r'rte_\w+'),
    ('a lock or a thread', r'(pthread|mtx|thrd|cnd|sem)_\w+'),
)

HEADERS = {'stdbool.h', 'stddef.h', 'stdint.h', 'string.h', 'limits.h', 'stdatomic.h',
           'immintrin.h', 'cpuid.h'}
EXTERNAL_HEADERS = {'base': {'stdarg.h', 'stdio.h'}, 'wire': {'isa-l/crc.h', 'isa-l.h'}}

# What any room may ask of the outside; bcmp is what clang makes of memcmp() == 0.
SYMBOLS = {'memcpy', 'memset', 'memcmp', 'memmove', 'bcmp', '_GLOBAL_OFFSET_TABLE_',
           '__stack_chk_fail', '__cpu_model', '__cpu_features2', '__cpu_indicator_init'}
EXTERNAL_SYMBOLS = {'base': {'vsnprintf', '__vsnprintf_chk'}, 'wire': {'crc32_gzip_refl'}}
INSTRUMENTED = ('__asan_', '__ubsan_', '__gcov_', '__llvm_', '__tsan_', '__sanitizer_',
                '__sancov_', '__start___sancov', '__stop___sancov', '__lsan_', '__msan_')
UNDEFINED = ('U', 'w', 'v')
READ_ONLY = ('.rodata', '.text', '.data.rel.ro', '.eh_frame', '.init_array', '.fini_array')


def homes(tree):
    """The homes of the pure rooms: lib/base, and all that lib/proto holds."""
    return sorted({found[0] for path in tree.texts if (found := PURE.match(path))})


def sources(tree):
    """(room, path, code without comments and strings) of the pure rooms."""
    for home in homes(tree):
        for path, text in tree.c_files((f'{home}/',)):
            yield noun(home), path, code_only(text)


@rule('pure', bad=[{'lib/proto/mem/a.c': 'x = malloc(4);\n'},
                   {'lib/base/a.c': 'now = time(NULL);\n'},
                   {'lib/proto/transport/a.c': 'printf("x");\n'},
                   {'lib/proto/cm/a.h': 'rte_mb();\n'},
                   {'lib/proto/mem/a.c': 'x = rand();\n'}],
      good=[{'lib/proto/mem/a.c': '/* malloc(4) */ x = "time(0)";\n'},
            {'lib/engine/cycle/a.c': 'rte_mb();\n'},
            {'lib/proto/mem/a.c': 'x->on_read(y); wake_time(q);\n'}])
def pure_rooms_call_nothing_outside(tree):
    """No clock, randomness, allocation, input, output, lock or DPDK name in a pure room."""
    for room, path, code in sources(tree):
        for what, pattern in FORBIDDEN:
            for match in re.finditer(r'(?<![\w.>])' + pattern, code):
                name = match.group().rstrip(' (')
                if name not in EXTERNAL_SYMBOLS.get(room, ()):  # vsnprintf() writes memory
                    yield Finding(path, line_of(code, match.start()), f'{what}: {name}')


@rule('pure', bad=[{'lib/proto/mem/a.c': '#include <stdio.h>\n'},
                   {'lib/proto/mem/a.c': '#include <isa-l/crc.h>\n'}],
      good=[{'lib/proto/mem/a.c': '#include <string.h>\n'},
            {'lib/proto/wire/a.c': '#include <isa-l/crc.h>\n'}])
def pure_rooms_include_little(tree):
    """A pure room includes only headers of the language and of the libraries it was granted."""
    for room, path, code in sources(tree):
        for match in re.finditer(r'#\s*include\s*<([^>]+)>', code):
            if match[1] not in HEADERS | EXTERNAL_HEADERS.get(room, set()):
                yield Finding(path, line_of(code, match.start()), f'<{match[1]}> in a pure room')


def outer_statements(code):
    """(offset, text) of each declaration outside of all braces; what braces hold is left out."""
    code = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: re.sub(r'[^\n]', ' ', m.group()),
                  code, flags=re.MULTILINE)
    depth, start, text = 0, 0, ''
    for at, char in enumerate(code):
        if char == '{':
            depth += 1
        elif char == '}':
            depth -= 1
            if depth == 0 and ')' in text and '=' not in text:
                text, start = '', at + 1
        elif depth == 0:
            text += char
            if char == ';':
                yield start + len(code[start:at]) - len(code[start:at].lstrip()), text.strip()
                text, start = '', at + 1


def is_variable(statement):
    """Does this declaration define something that can change?"""
    if re.match(r'(typedef|extern|_Static_assert|static_assert|__extension__)\b', statement):
        return False
    if re.fullmatch(r'(struct|union|enum)\s*\w*\s*(__attribute__.*|PLX_ALIGNED_LINE)?;', statement):
        return False
    head = statement.split('=')[0]
    if '(' in re.sub(r'__attribute__\s*\(\(.*?\)\)', '', head) and '(*' not in head:
        return False
    last = head.rsplit('*', 1)[-1]
    return not re.search(r'\bconst\b', last)


@rule('pure', bad=[{'lib/proto/mem/a.c': 'static int count;\n'},
                   {'lib/proto/mem/a.c': 'struct a x = {1};\n'},
                   {'lib/proto/mem/a.c': 'static const char *name;\n'},
                   {'lib/proto/mem/a.c': 'void f(void)\n{\n\tstatic int n;\n}\n'}],
      good=[{'lib/proto/mem/a.c': 'static const int table[] = {1, 2};\nstruct a {\n\tint x;\n};\n'
             'extern int y;\nint f(int a);\nstatic int\ng(void)\n{\n\treturn 1;\n}\n'
             'static const char *const names[2] = {\n\t"a",\n};\nenum b { C };\n'}])
def pure_rooms_keep_no_state(tree):
    """No variable of file scope, and no static one in a function, that is not const."""
    for _, path, code in sources(tree):
        for offset, statement in outer_statements(code):
            if is_variable(statement):
                yield Finding(path, line_of(code, offset),
                              f'mutable: {" ".join(statement.split())[:60]}')
        for match in re.finditer(r'^[ \t]+static[ \t]+(?!inline|const)[^;{}(]*[;=]', code,
                                 re.MULTILINE):
            yield Finding(path, line_of(code, match.start()), 'mutable: static in a function')


def symbols(listing):
    """(name, class, section) of each line of nm's sysv format."""
    for line in listing.splitlines():
        fields = [field.strip() for field in line.split('|')]
        if len(fields) == 7 and fields[0] != 'Name':
            yield fields[0], fields[2], fields[6]


def is_instrumented(listing):
    return any(name.startswith(INSTRUMENTED) for name, _, _ in symbols(listing))


def nm_line(name, kind, section):
    return f'{name}|0|{kind}|OBJECT|0| |{section}\n'


def built(room, *lines):
    return Tree({f'lib/proto/{room}/meson.build': "deps = ['base']\n"}, {room: ''.join(lines)})


@rule('symbols', bad=[Tree({'lib/proto/mem/a.c': ''}, {}),
                      built('mem', nm_line('malloc', 'U', '*UND*')),
                      built('mem', nm_line('crc32_gzip_refl', 'U', '*UND*')),
                      built('mem', nm_line('plx_pkt_decode', 'U', '*UND*'))],
      good=[built('wire', nm_line('crc32_gzip_refl', 'U', '*UND*'),
                  nm_line('memcpy', 'U', '*UND*'), nm_line('__asan_init', 'U', '*UND*'),
                  nm_line('plx_f', 'T', '.text'), nm_line('plx_f', 'U', '*UND*'))])
def pure_rooms_need_nothing_outside(tree):
    """The library of a pure room asks for nothing but memcpy and its like, and earlier rooms."""
    for home in homes(tree):
        room = noun(home)
        if room not in tree.archives:
            yield Finding(home, 1, 'there is no built library to look into')
            continue
        allowed = SYMBOLS | EXTERNAL_SYMBOLS.get(room, set()) | defined(tree, home)
        needed = {name for name, kind, _ in symbols(tree.archives[room]) if kind in UNDEFINED}
        for name in sorted(needed - allowed):
            if not name.startswith(INSTRUMENTED):
                yield Finding(home, 1, f'needs {name} from outside')


def defined(tree, home):
    """What the room and the rooms it declares define."""
    names = set()
    for name in [noun(home), *deps(tree, home)]:
        names |= {symbol for symbol, kind, _ in symbols(tree.archives.get(name, ''))
                  if kind not in UNDEFINED}
    return names


@rule('symbols', bad=[built('mem', nm_line('count', 'b', '.bss')),
                      built('mem', nm_line('names', 'd', '.data.rel.local')),
                      built('mem', nm_line('plx_x', 'D', '.data'))],
      good=[built('mem', nm_line('plx_x', 'R', '.rodata'),
                  nm_line('texts', 'd', '.data.rel.ro.local')),
            built('mem', nm_line('__asan_init', 'U', '*UND*'), nm_line('x', 'b', '.bss'))])
def pure_rooms_have_no_writable_data(tree):
    """The library of a pure room has no writable data (not judged when it is instrumented)."""
    for home in homes(tree):
        room = noun(home)
        listing = tree.archives.get(room, '')
        if is_instrumented(listing):
            continue
        for name, kind, section in symbols(listing):
            if kind.upper() in 'BDCSG' and not section.startswith(READ_ONLY):
                yield Finding(home, 1, f'{name} is writable, in {section}')
