# SPDX-License-Identifier: BSD-3-Clause
"""Rules that hold documents and sources to each other: tests named, clauses mapped, links alive."""
import re

from rules import rule
from tree import Finding, code_only, comments, line_of

SPEC_MAP = 'docs/spec-map.md'
BUGS = 'docs/bugs.md'
THREATS = 'docs/threats.md'
SOCKETS = 'docs/sockets.md'
TAG = re.compile(r'^(@\w+|[A-Z]\w*:)')

DOC = '/**\n * Does it.\n *\n * Tests: {}\n */\n'
SPEC = '/** A number. Spec: {} */\n'
MAP = '| id | where | test |\n|---|---|---|\n| {} | `lib/a/plx_a.h` | `tests/x.c` |\n'


def tagged(tree, tag, paths):
    """(path, line, text) of each `tag` in a comment, its continuation lines joined."""
    for path, text in paths:
        for number, comment in comments(text):
            lines = [line.strip(' \t/*') for line in comment.splitlines()]
            for at, line in enumerate(lines):
                if not re.search(rf'\b{tag}:', line):
                    continue
                said = [line.split(f'{tag}:', 1)[1].strip()]
                for more in lines[at + 1:]:
                    if not more or TAG.match(more) or re.search(r'[.)]$', said[-1]):
                        break
                    said.append(more)
                yield path, number + at, ' '.join(said)


@rule('docs', bad=[{'lib/a/plx_a.h': DOC.format('tests/gone.c')},
                   {'lib/a/plx_a.h': DOC.format('tests/x.c, tests/rc_*.plx'), 'tests/x.c': ''},
                   {'lib/a/plx_a.h': DOC.format('good ones'), 'tests/x.c': ''}],
      good=[{'lib/a/plx_a.h': DOC.format('tests/x.c, tests/rc_*.plx,\n *        tests/s'),
             'tests/x.c': '', 'tests/rc_a.plx': '', 'tests/s/y.c': ''}])
def tests_named_in_headers_exist(tree):
    """Each file, folder or glob in a `Tests:` line of a public header is there."""
    for path, line, text in tagged(tree, 'Tests', tree.files(('plx_*.h',), ('lib/',))):
        for name in re.split(r',\s*', text.rstrip('.')):
            if name and not tree.exists(name):
                yield Finding(path, line, f'Tests: there is no {name}')


def spec_ids(text):
    """The ids in the words after `Spec:`: IBTA clauses, compliance statements, annexes, RFCs."""
    text = re.split(r'\.(?:\s|$)', text)[0]
    text = re.sub(r'\btables? \d+( to \d+)?|\bvol \d+|\([^)]*\)', '', text)
    ids = set()
    for match in re.finditer(r'RFC (\d+(?:, ?\d+)*)', text):
        ids |= {f'RFC {number}' for number in re.findall(r'\d+', match[1])}
    text = re.sub(r'RFC \d+(?:, ?\d+)*', '', text)
    ids |= set(re.findall(r'\b[Co]\d+-\d+(?:\.\d+)*', text))
    text = re.sub(r'\b[Co]\d+-[\d.]+', '', text)
    ids |= {f'IBTA {clause}' for clause in re.findall(r'\bA?\d+(?:\.\d+)+|\bA\d+\b', text)}
    return ids


def spec_map(tree):
    """(line, id, cells) of each row of docs/spec-map.md."""
    for number, cells in rows(tree.texts.get(SPEC_MAP, '')):
        yield number, cells[0].strip('`'), cells


def rows(text):
    """(line, cells) of each row of the tables of a page, without their heads."""
    head = True
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith('|'):
            head = True
        elif re.fullmatch(r'\|[-:| ]+\|', line):
            head = False
        elif not head:
            cells = re.split(r'(?<!\\)\|', line.strip()[1:-1])
            yield number, [cell.strip() for cell in cells]


@rule('docs', bad=[{'lib/a/plx_a.h': SPEC.format('IBTA vol 1, 9.7.2.'), SPEC_MAP: ''},
                   {'lib/a/b.c': SPEC.format('RFC 791, 768; IBTA Annex A17'),
                    SPEC_MAP: MAP.format('RFC 791') + '| IBTA A17 | | |\n'},
                   {'lib/a/b.c': '', SPEC_MAP: MAP.format('C9-88')}],
      good=[{'lib/a/plx_a.h': SPEC.format('IBTA vol 1, 9.7.2 (why) table 3; C9-88.'),
             SPEC_MAP: MAP.format('IBTA 9.7.2') + '| `C9-88` | `lib/a` | `tests/x.c` |\n'}])
def spec_ids_are_mapped(tree):
    """Each `Spec:` id in lib/ is a row of docs/spec-map.md, and each row is cited in lib/."""
    mapped = {name: number for number, name, _ in spec_map(tree)}
    cited = set()
    for path, line, text in tagged(tree, 'Spec', tree.c_files(('lib/',))):
        for name in sorted(spec_ids(text)):
            cited.add(name)
            if name not in mapped:
                yield Finding(path, line, f'Spec: {name} is not in {SPEC_MAP}')
    for name in sorted(set(mapped) - cited):
        yield Finding(SPEC_MAP, mapped[name], f'{name} is cited by no `Spec:` in lib/')


def quoted(cell):
    return re.findall(r'`([^`]+)`', cell)


@rule('docs', bad=[{SPEC_MAP: MAP.format('C9-88'), 'lib/a/plx_a.h': ''},
                   {SPEC_MAP: MAP.format('C9-88').replace('`tests/x.c`', ''), 'lib/a/plx_a.h': ''}],
      good=[{SPEC_MAP: MAP.format('C9-88'), 'lib/a/plx_a.h': '', 'tests/x.c': ''}])
def spec_map_names_files(tree):
    """Each row of docs/spec-map.md names files that exist: where, and which test."""
    for number, name, cells in spec_map(tree):
        if len(cells) != 3 or not quoted(cells[1]) or not quoted(cells[2]):
            yield Finding(SPEC_MAP, number, f'{name}: not "id | `where` | `test`"')
            continue
        for path in quoted(cells[1]) + quoted(cells[2]):
            if not tree.exists(path):
                yield Finding(SPEC_MAP, number, f'{name}: there is no {path}')


THREAT = '| it | tests |\n|---|---|\n| lies | {} |\n'
BUG = '| what | source | lesson | test |\n|---|---|---|---|\n| a | b | c | {} |\n'


def test_names(tree):
    """What can be a test's name: functions, Meson's strings, and files, wire scripts above all."""
    names = set()
    for path, text in tree.files(('*',), ('tests/',)):
        names.add(path.rsplit('/', 1)[-1].split('.')[0])
        if path.endswith('.c'):
            names |= set(re.findall(r'^(?:static void )?(\w+)\(', code_only(text), re.MULTILINE))
        elif path.endswith('meson.build'):
            names |= set(re.findall(r"'([\w-]+)'", text))
    return names


def shown(tree, path, wanted, also=(), fault=lambda name, tests: None):
    """Findings in a list of lines "name: test test": what is none of `wanted` or `also`, tests that
    do not exist, what `fault` says of a line, names without one."""
    known = test_names(tree)
    seen = set()
    for number, line in enumerate(tree.texts.get(path, '').splitlines(), 1):
        name, _, tests = line.rpartition(': ')
        if not line or line.startswith('#'):
            continue
        seen.add(name)
        if name not in wanted and name not in also:
            yield Finding(path, number, f'"{line}": nothing that is to be shown, or no test')
        for test in sorted(set(tests.split()) - known):
            yield Finding(path, number, f'{name}: there is no test {test}')
        wrong = fault(name, tests.split())
        if wrong:
            yield Finding(path, number, f'{name}: {wrong}')
    for name in sorted(wanted - seen):
        yield Finding(path, 1, f'{name} has no tests')


def without_row(tree, page, ids):
    """Findings for the ids that no row of a page's tables begins with."""
    told = {cells[0] for _, cells in rows(tree.texts.get(page, ''))}
    for name in sorted(ids - told):
        yield Finding(page, 1, f'{name} has no row')


@rule('docs', bad=[{BUGS: BUG.format('`gone_is_refused`'), 'tests/a.c': 'gone_is_refused_too();'},
                   {BUGS: BUG.format('`gone_is`'), 'tests/a.c': 'f(1); /* gone_is */'},
                   {BUGS: BUG.format('')}, {BUGS: BUG.format('-')}, {BUGS: 'no table\n'}],
      good=[{BUGS: BUG.format('`gone_is`'), 'tests/a.c': 'static void\ngone_is(void **state)\n'},
            {BUGS: BUG.format('`gone_is`'), 'tests/a.c': 'static void gone_is(void **state)\n'},
            {BUGS: BUG.format('`rc_gone`'), 'tests/script/rc_gone.plx': ''},
            {BUGS: BUG.format('`tests/fuzz/a.c`'), 'tests/fuzz/a.c': ''},
            {BUGS: BUG.format('- no connection manager yet')}])
def bugs_have_tests(tree):
    """Each row of docs/bugs.md names tests that exist, or says why there is none yet."""
    if BUGS in tree.texts and not list(rows(tree.texts[BUGS])):
        yield Finding(BUGS, 1, 'no table')
    names = test_names(tree)
    for number, cells in rows(tree.texts.get(BUGS, '')):
        if len(cells) != 4 or not (quoted(cells[-1]) or re.match(r'- \w+ \w+', cells[-1])):
            yield Finding(BUGS, number, 'not "what | source | lesson | `test`" or "- reason"')
        for name in quoted(cells[-1]):
            if not (tree.exists(name) if '/' in name else name in names):
                yield Finding(BUGS, number, f'no test is named {name}')


@rule('docs', bad=[{THREATS: THREAT.format('`lies_are_refused`')}, {THREATS: THREAT.format('')},
                   {THREATS: THREAT.format('`tests/system/x`')}, {THREATS: 'no table\n'},
                   {SOCKETS: THREAT.format('`lies_are_refused`')}, {SOCKETS: 'no table\n'}],
      good=[{THREATS: THREAT.format('`lies`, `tests/a.c`'),
             'tests/a.c': 'static void\nlies(void **state)\n'}])
def rows_name_tests(tree):
    """Each row of docs/threats.md and docs/sockets.md names tests that exist."""
    names = test_names(tree)
    for page in (THREATS, SOCKETS):
        if page in tree.texts and not list(rows(tree.texts[page])):
            yield Finding(page, 1, 'no table')
        for number, cells in rows(tree.texts.get(page, '')):
            if len(cells) != 2 or not quoted(cells[1]):
                yield Finding(page, number, 'not "what it is | `test`"')
                continue
            for name in quoted(cells[1]):
                if not (tree.exists(name) if '/' in name else name in names):
                    yield Finding(page, number, f'no test is named {name}')


@rule('docs', bad=[{'README.md': '[a](docs/gone.md)\n'}, {'docs/a.md': '[a](../lib/x)\n'},
                   {'docs/a.md': '# A\n[a](b.md#a-b)\n', 'docs/b.md': '# A b c\n'},
                   {'docs/a.md': '# A\n[a](#b)\n'}],
      good=[{'docs/a.md': '# F, g\n[a](b.md#c-d) [d](https://x.example) [e](#f-g)\n',
             'docs/b.md': '## `C` d\n'}])
def links_lead_somewhere(tree):
    """A relative link of a page leads to a file that exists, and its anchor to a heading there."""
    for path, text in tree.files(('*.md',)):
        folder = path.rsplit('/', 1)[0] if '/' in path else ''
        for match in re.finditer(r'\]\(([^)#\s]*)(?:#([^)\s]+))?[^)]*\)', text):
            name, anchor = match.groups()
            if ':' in name or not (name or anchor):
                continue
            there = joined(folder, name) if name else path
            if not tree.exists(there):
                yield Finding(path, line_of(text, match.start()), f'no such file: {name}')
            elif anchor and there.endswith('.md') and anchor not in anchors(tree.texts[there]):
                yield Finding(path, line_of(text, match.start()), f'no heading for #{anchor}')


def anchors(text):
    """What a page's headings are called in links: lower case, dashes, no other punctuation."""
    text = re.sub(r'^(```|~~~).*?^\1', '', text, flags=re.MULTILINE | re.DOTALL)
    return {re.sub(r'[^\w\- ]', '', heading.strip().lower()).replace(' ', '-')
            for heading in re.findall(r'^#+ (.*)$', text, re.MULTILINE)}


def joined(folder, name):
    """A relative path, from a folder of the tree, as a path from its root."""
    parts = folder.split('/') if folder else []
    for part in name.split('/'):
        if part == '..':
            parts = parts[:-1]
        elif part not in ('.', ''):
            parts.append(part)
    return '/'.join(parts)


@rule('docs', bad=[{'docs/a.md': '`plx_gone()`\n', 'lib/a/b.h': 'plx_here'},
                   {'docs/a.md': 'PLX_GONE_MAX\n', 'lib/a/b.h': 'plx_here'}],
      good=[{'docs/a.md': '`plx_he_*` plx_here() `plx_<noun>` plx_a.h\n',
             'lib/a/plx_a.h': 'plx_here plx_he_x'}])
def names_in_docs_exist(tree):
    """A name with our prefix in a page, a limit above all, is one the sources have."""
    known = set()
    for path, text in tree.files(('*.c', '*.h', 'meson.build'), ('lib/', 'tests/', 'apps/')):
        known |= set(re.findall(r'\w+', text)) | {path.rsplit('/', 1)[-1].split('.')[0]}
    for path, text in tree.files(('*.md',)):
        for match in re.finditer(r'\b(plx|PLX)_\w+', text):
            name = match.group()
            family = name.endswith('_') or text[match.end():match.end() + 1] in ('*', '<')
            if not (any(one.startswith(name) for one in known) if family else name in known):
                yield Finding(path, line_of(text, match.start()), f'no source has {name}')
