# SPDX-License-Identifier: BSD-3-Clause
"""NDKPI against its tests: each method, rule of lifetime and assertion has some."""
import re

from docs import shown, without_row
from rules import rule

SHOWN = 'tests/unit/face/ndk/shown.txt'
ASSERTED = 'tests/unit/face/ndk/README.md'
METHODS = 'lib/face/ndkpi/include/ndkcalls.h'
RULES = {f'L{number}' for number in range(1, 10)}
ASSERTIONS = {f'T{number:02}' for number in range(1, 31)} | {f'X{number}' for number in range(1, 6)}

ONE = '#define PLX_NDK_CQ(S) \\\n\tS(NDK_FN_ARM_CQ, NdkArmCq)\n\n'
FULL = ''.join(f'{name}: it_is\n' for name in ['NDK_CQ::NdkArmCq', *sorted(RULES | ASSERTIONS)])
TABLE = '| id | what |\n|---|---|\n'
GOOD = {METHODS: ONE, SHOWN: '# a comment\n' + FULL,
        ASSERTED: TABLE + ''.join(f'| {name} | so |\n' for name in sorted(RULES | ASSERTIONS)),
        'tests/a.c': 'static void\nit_is(void **state)\n{\n\tcq->Dispatch->NdkArmCq(cq, 0);\n}\n'}


def methods(tree):
    """NDK_CQ::NdkArmCq and so on, as the lists of slots have them."""
    return {f'NDK_{table}::{slot}'
            for table, body in re.findall(r'^#define PLX_NDK_([A-Z_]+)\(S\) \\\n((?:.*\\\n)*.*)',
                                          tree.texts.get(METHODS, ''), re.MULTILINE)
            for slot in re.findall(r'\bS\(\w+, (\w+)\)', body)}


def callers(tree):
    """The tests in whose file each word is."""
    found = {}
    for path, text in tree.texts.items():
        if path.startswith('tests/') and path.endswith('.c'):
            words = set(re.findall(r'\bNdk\w+', text))
            for test in re.findall(r'^(\w+)\(void \*\*state\)', text, re.MULTILINE):
                found.setdefault(test, set()).update(words)
    return found


@rule('docs', bad=[{**GOOD, METHODS: ONE + ONE.replace('_CQ(S)', '_PD(S)')},
                   {**GOOD, METHODS: ONE.replace('NdkArmCq', 'NdkCloseCq')},
                   {**GOOD, SHOWN: FULL.replace('T17: it_is\n', '')},
                   {**GOOD, SHOWN: FULL.replace('T17: it_is', 'T17:')},
                   {**GOOD, SHOWN: FULL.replace('L3: it_is', 'L3: it_is gone')},
                   {**GOOD, SHOWN: FULL + 'T31: it_is\n'},
                   {**GOOD, 'tests/a.c': GOOD['tests/a.c'].replace('NdkArmCq', 'NdkArm')},
                   {**GOOD, ASSERTED: GOOD[ASSERTED].replace('| X4 | so |\n', '')}],
      good=[GOOD, {'lib/a/a.c': ''}])
def ndk_is_tested(tree):
    """Each method, rule and assertion of NDKPI has tests in shown.txt, which call the method."""
    if METHODS not in tree.texts:
        return
    called, calls = methods(tree), callers(tree)

    def fault(name, tests):
        slot = name.partition('::')[2]
        if name in called and not any(slot in calls.get(test, ()) for test in tests):
            return 'none of its tests calls it'
        return None

    yield from shown(tree, SHOWN, called | RULES | ASSERTIONS, fault=fault)
    yield from without_row(tree, ASSERTED, RULES | ASSERTIONS)
