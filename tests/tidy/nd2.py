# SPDX-License-Identifier: BSD-3-Clause
"""The page of ND2 against its interfaces: each method, decision and assertion has its test."""
import re

from docs import quoted, rows, test_names
from rules import rule
from tree import Finding

PAGE = 'docs/nd2.md'
METHODS = 'lib/ndspi/include/ndmethods.h'
DECISIONS = {f'L{number}' for number in range(1, 26)}
ASSERTIONS = {f'A{number:02}' for number in range(1, 31)}
ASSERTIONS |= {f'R{number}' for number in range(1, 10)}
NAMES = {'COMPLETIONQUEUE': 'CompletionQueue', 'SHAREDRECEIVEQUEUE': 'SharedReceiveQueue',
         'MEMORYWINDOW': 'MemoryWindow', 'MEMORYREGION': 'MemoryRegion', 'QUEUEPAIR': 'QueuePair'}

ONE = '#define PLX_ND2_OVERLAPPED(M0, M, I) \\\n\tM0(I, HRESULT, Cancel)\n'
ROW = '| {} | `it_is` |\n'
HEAD = '| what | test |\n|---|---|\n'
FULL = HEAD + ''.join(ROW.format(name) for name in
                      ['`IND2Overlapped::Cancel`', *sorted(DECISIONS), *sorted(ASSERTIONS)])
GOOD = {METHODS: ONE, PAGE: FULL, 'tests/a.c': 'static void\nit_is(void **state)\n'}


def methods(tree):
    """IND2Adapter::Query and so on, as the list of methods has them."""
    found = set()
    for name, body in re.findall(r'^#define PLX_ND2_([A-Z]+)\(M0, M, I\) \\\n((?:.*\\\n)*.*)',
                                 tree.texts.get(METHODS, ''), re.MULTILINE):
        interface = NAMES.get(name, name.capitalize())
        found |= {f'IND2{interface}::{method}'
                  for method in re.findall(r'\bM0?\(I, \w+, (\w+)', body)}
    return found


@rule('docs', bad=[{**GOOD, METHODS: ONE + ONE.replace('OVERLAPPED', 'ADAPTER')},
                   {**GOOD, METHODS: ONE.replace('Cancel', 'Query')},
                   {**GOOD, PAGE: FULL.replace('| A17 | `it_is` |\n', '')},
                   {**GOOD, PAGE: FULL.replace('| L25 | `it_is` |\n', '')},
                   {**GOOD, PAGE: FULL.replace('| R4 | `it_is` |\n', '')},
                   {**GOOD, PAGE: FULL.replace('| A17 | `it_is` |', '| A17 | yes |')},
                   {**GOOD, PAGE: FULL + ROW.format('A17').replace('it_is', 'gone')}],
      good=[GOOD, {'lib/a/a.c': ''}])
def nd2_is_tested(tree):
    """docs/nd2.md has a row for each method, decision and assertion, and its tests exist."""
    if METHODS not in tree.texts:
        return
    wanted = methods(tree) | DECISIONS | ASSERTIONS
    known = test_names(tree)
    seen = set()
    for number, cells in rows(tree.texts.get(PAGE, '')):
        name = cells[0].strip('`')
        if name not in wanted and not name.startswith('IND2'):
            continue
        seen.add(name)
        if name not in wanted:
            yield Finding(PAGE, number, f'{METHODS} has no {name}')
        if not quoted(cells[-1]):
            yield Finding(PAGE, number, f'{name} names no test')
        for test in quoted(cells[-1]):
            if test not in known:
                yield Finding(PAGE, number, f'{name}: there is no test {test}')
    for name in sorted(wanted - seen):
        yield Finding(PAGE, 1, f'{name} has no row')
