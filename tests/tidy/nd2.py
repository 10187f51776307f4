# SPDX-License-Identifier: BSD-3-Clause
"""ND2's interfaces against their tests: each method, decision and assertion has some."""
import re

from docs import shown, without_row
from rules import rule

SHOWN = 'tests/unit/face/nd2/shown.txt'
DECIDED = 'docs/nd2.md'
ASSERTED = 'tests/unit/face/nd2/README.md'
METHODS = 'lib/face/ndspi/include/ndmethods.h'
DECISIONS = {f'L{number}' for number in range(1, 26)}
ASSERTIONS = {f'A{number:02}' for number in range(1, 31)}
ASSERTIONS |= {f'R{number}' for number in range(1, 10)}
NAMES = {'COMPLETIONQUEUE': 'CompletionQueue', 'SHAREDRECEIVEQUEUE': 'SharedReceiveQueue',
         'MEMORYWINDOW': 'MemoryWindow', 'MEMORYREGION': 'MemoryRegion', 'QUEUEPAIR': 'QueuePair'}

ONE = '#define PLX_ND2_OVERLAPPED(M0, M, I) \\\n\tM0(I, HRESULT, Cancel)\n'
FULL = ''.join(f'{name}: it_is\n' for name in
               ['IND2Overlapped::Cancel', *sorted(DECISIONS), *sorted(ASSERTIONS)])
TABLE = '| id | what |\n|---|---|\n'
GOOD = {METHODS: ONE, SHOWN: '# a comment\n' + FULL,
        DECIDED: TABLE + ''.join(f'| {name} | so |\n' for name in sorted(DECISIONS)),
        ASSERTED: TABLE + ''.join(f'| {name} | so |\n' for name in sorted(ASSERTIONS)),
        'tests/a.c': 'static void\nit_is(void **state)\n'}


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
                   {**GOOD, SHOWN: FULL.replace('A17: it_is\n', '')},
                   {**GOOD, SHOWN: FULL.replace('A17: it_is', 'A17:')},
                   {**GOOD, SHOWN: FULL.replace('A17: it_is', 'A17: it_is gone')},
                   {**GOOD, SHOWN: FULL + 'A31: it_is\n'},
                   {**GOOD, DECIDED: GOOD[DECIDED].replace('| L25 | so |\n', '')},
                   {**GOOD, ASSERTED: GOOD[ASSERTED].replace('| R4 | so |\n', '')}],
      good=[GOOD, {'lib/a/a.c': ''}])
def nd2_is_tested(tree):
    """Each method, decision and assertion on ND2 has its tests in shown.txt, and they exist."""
    if METHODS not in tree.texts:
        return
    wanted = methods(tree) | DECISIONS | ASSERTIONS
    yield from shown(tree, SHOWN, wanted, ('IUnknown',))
    yield from without_row(tree, DECIDED, DECISIONS)
    yield from without_row(tree, ASSERTED, ASSERTIONS)
