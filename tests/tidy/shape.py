# SPDX-License-Identifier: BSD-3-Clause
"""Rules on the shape of files: length, width, licence line, clang-format, dead code."""
import pathlib
import re
import subprocess
import tempfile

from rules import rule
from tree import Finding, comments, line_of

FILE_LINES = 1000
FUNCTION_LINES = 70
COLUMNS = 100
TAB = 8
LICENCE = 'SPDX-License-Identifier: BSD-3-Clause'
CLANG_FORMAT = 'clang-format-14'

LONG_FUNCTION = 'void f(void)\n{\n' + '\tg();\n' * 71 + '}\n'
FULL_FUNCTION = 'void f(void)\n{\n' + '\tg();\n' * 70 + '}\n'


@rule('shape', bad=[{'lib/a/b.c': 'int x;\n' * 1001}], good=[{'lib/a/b.c': 'int x;\n' * 1000}])
def file_is_not_long(tree):
    """A file has at most 1,000 lines."""
    for path, text in tree.c_files():
        lines = text.count('\n')
        if lines > FILE_LINES:
            yield Finding(path, lines, f'{lines} lines; at most {FILE_LINES}')


@rule('shape', bad=[{'lib/a/b.c': LONG_FUNCTION}], good=[{'tests/b.c': FULL_FUNCTION}])
def function_is_not_long(tree):
    """A function has at most 70 lines between its braces in column 0."""
    for path, text in tree.c_files():
        start = None
        for number, line in enumerate(text.splitlines(), 1):
            if line == '{':
                start = number
            elif line.startswith('}') and start is not None:
                length = number - start - 1
                if length > FUNCTION_LINES:
                    yield Finding(path, start, f'{length} lines; at most {FUNCTION_LINES}')
                start = None


@rule('shape', bad=[{'lib/a/b.c': '\t' * 12 + 'x = 1;'}, {'tests/a.py': 'x' * 101}],
      good=[{'lib/a/b.h': '\t' * 12 + 'x=1;'}, {'docs/a.md': 'x' * 500}])
def line_is_not_wide(tree):
    """A line has at most 100 columns, tabs being 8 wide."""
    for path, text in tree.files(('*.c', '*.h', '*.py', '*.sh')):
        for number, line in enumerate(text.splitlines(), 1):
            width = len(line.expandtabs(TAB))
            if width > COLUMNS:
                yield Finding(path, number, f'{width} columns; at most {COLUMNS}')


@rule('shape', bad=[{'lib/a/b.c': 'int x; \n'}, {'docs/a.md': 'a\r\n'}, {'lib/a/b.h': 'int x;'}],
      good=[{'lib/a/b.c': 'int x;\n'}, {'Makefile': ''}])
def line_ends_clean(tree):
    """No blanks at the end of a line, no carriage return, a newline at the end of the file."""
    for path, text in tree.files(('*',)):
        if text and not text.endswith('\n'):
            yield Finding(path, text.count('\n') + 1, 'no newline at the end of the file')
        for match in re.finditer(r'[ \t\r]+$', text, re.MULTILINE):
            yield Finding(path, line_of(text, match.start()), 'blanks at the end of the line')


def is_source(path, text):
    """Is it of a kind that carries a licence line: C, Meson, Make, Python, shell, any script?"""
    name = path.rsplit('/', 1)[-1]
    named = name.endswith(('.c', '.h', '.py', '.sh')) or name in ('meson.build', 'Makefile')
    return named or text.startswith('#!')


@rule('shape', bad=[{'lib/a/b.c': '/* a file */\n'}, {'tests/run': '#!/bin/sh\nset -e\n'},
                    {'lib/meson.build': "rooms = ['base']\n"}],
      good=[{'tests/run': f'#!/bin/sh\n# {LICENCE}\n'}, {'lib/a/b.c': f'/* {LICENCE}\n */\n'}])
def licence_line_comes_first(tree):
    """The SPDX line is the first of every source, after the line that names an interpreter."""
    for path, text in tree.files(('*',)):
        if not is_source(path, text):
            continue
        lines = text.splitlines() or ['']
        at = 1 if lines[0].startswith('#!') and len(lines) > 1 else 0
        if LICENCE not in lines[at]:
            yield Finding(path, at + 1, f'the first line is not "{LICENCE}"')


@rule('shape', bad=[{'lib/a/b.c': f'/* {LICENCE} */\nint x;\n'},
                    {'tests/a.py': f'# {LICENCE}\nimport re\n'}],
      good=[{'lib/a/b.c': f'/* {LICENCE}\n *\n * Owns the b.\n */\n'},
            {'tests/a.py': f'#!/usr/bin/env python3\n# {LICENCE}\n"""Owns it."""\n'}])
def file_says_what_it_owns(tree):
    """A C file opens with a comment on what it is for, a Python file with a docstring."""
    for path, text in tree.c_files():
        if not re.match(r'/\*[^\n]*\n \*\n \* \S', text):
            yield Finding(path, 1, 'the first comment does not say what the file is for')
    for path, text in tree.files(('*',)):
        script = re.match(r'#![^\n]*python', text)
        if (path.endswith('.py') or script) and not re.match(r'(#[^\n]*\n)+"""', text):
            yield Finding(path, 1, 'no docstring after the licence line')


# What WPP reads in comments of drivers.
WPP = re.compile(r'(FUNC|USEPREFIX|USESUFFIX|CUSTOM_TYPE|TYPEMACRO|WPP_FLAGS|DEFINE_CPLX_TYPE)\b')


def is_statement(line):
    """Does this line of a comment look like C that was switched off?"""
    line = line.strip().lstrip('/*').strip()
    if WPP.match(line):
        return False
    return bool(re.fullmatch(r'(return\b.*|[\w.\[\]>*-]+( [\w*]+)* *([-+|&]?=[^=].*|\(.*\)));'
                             r'|(if|for|while|switch) \(.*\) *\{?|\}( else.*)?', line))


@rule('shape', bad=[{'lib/a/b.c': '/* x = 1;\n * y->z = f(x);\n */\n'},
                    {'lib/a/b.c': '// old_call(x);\n'}, {'lib/a/b.c': '#if 0\nint x;\n#endif\n'}],
      good=[{'lib/a/b.c': '/* the key is x; the peer knows it. */\n// and why\n'},
            {'lib/a/b.c': '// FUNC Trace(LEVEL, MSG, ...);\n'}])
def no_code_is_commented_out(tree):
    """No code in comments or under #if 0; version control remembers."""
    for path, text in tree.c_files():
        for match in re.finditer(r'^#\s*if\s+0\b', text, re.MULTILINE):
            yield Finding(path, line_of(text, match.start()), 'code under #if 0')
        for number, comment in comments(text):
            count = sum(map(is_statement, comment.splitlines()))
            if count >= (1 if comment.startswith('//') else 2):
                yield Finding(path, number, 'commented-out code')


BADLY_SET = {'.clang-format': 'BasedOnStyle: LLVM\nIndentWidth: 8\n', 'lib/a.c': 'int  x ;\n'}
WELL_SET = {'.clang-format': 'BasedOnStyle: LLVM\nIndentWidth: 8\n', 'lib/a.c': 'int x;\n'}


@rule('format', bad=[BADLY_SET], good=[WELL_SET])
def c_is_formatted(tree):
    """clang-format 14 would change nothing (`make format` does what it wants)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        names = []
        for path, text in [('.clang-format', tree.texts['.clang-format']), *tree.c_files()]:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
            names.append(path)
        done = subprocess.run([CLANG_FORMAT, '--dry-run', '--Werror', *names[1:]], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False)
    seen = {}
    for match in re.finditer(r'^([^:\n]+):(\d+):\d+: error', done.stderr, re.MULTILINE):
        seen.setdefault(match[1], []).append(match[2])
    for path, lines in seen.items():
        yield Finding(path, lines[0], f'not as clang-format 14 sets it, in {len(lines)} places; '
                      'run `make format`')
    if done.returncode and not seen:
        yield Finding('.clang-format', 1, f'{CLANG_FORMAT} failed: {done.stderr[:200]}')


REASON = re.compile(r'[GL]COVR?_EXCL_(LINE|START|BR_LINE|BR_START|STOP|BR_STOP)(: *(\S[^*\n]+))?')


@rule('shape', bad=[{'lib/a/b.c': 'return 1; /* LCOV_EXCL_LINE */\n'},
                    {'lib/a/b.c': '/* LCOV_EXCL_START: a trap, never run */\n'}],
      good=[{'lib/a/b.c': 'return 1; /* LCOV_EXCL_LINE: base refuses it before */\n'},
            {'lib/a/b.c': '/* LCOV_EXCL_START: a trap */\n/* LCOV_EXCL_STOP */\n'}])
def coverage_exclusion_has_a_reason(tree):
    """A line taken out of the coverage figure says why, and a block ends where it should."""
    for path, text in tree.c_files():
        open_at = None
        for match in REASON.finditer(text):
            line, kind = line_of(text, match.start()), match[1]
            if not kind.endswith('STOP') and len((match[3] or '').split()) < 2:
                yield Finding(path, line, 'a coverage exclusion without a reason')
            if kind.endswith('START'):
                open_at = line
            elif kind.endswith('STOP'):
                open_at = None
        if open_at:
            yield Finding(path, open_at, 'a coverage exclusion that never ends')
