# SPDX-License-Identifier: BSD-3-Clause
"""Rules on words: no promise without an issue, no path of one machine, no foreign prefix."""
import re

from rules import rule
from tree import Finding, line_of

PROMISE = re.compile(r'\b(TODO|FIXME|XXX)\b(?!\(#\d+\))')
MACHINE = re.compile(r'(?<![\w.-])/(work|root|home|farm)\b|\.\./shared\b')
PREFIX = re.compile(r'\b(ndx|NDX)_\w+')


def matches(tree, pattern):
    """(path, line, text) of each match; this folder, which must name what it refuses, is left out.
    """
    for path, text in tree.files(('*',)):
        if path.startswith('tests/tidy/'):
            continue
        for match in pattern.finditer(text):
            yield path, line_of(text, match.start()), match.group()


@rule('words', bad=[{'lib/a/b.c': '/* TODO: later */\n'}, {'docs/a.md': 'FIXME\n'},
                    {'tests/a.py': '# XXX\n'}],
      good=[{'lib/a/b.c': '/* TODO(#12): later */\n'}, {'docs/a.md': 'PLX_XXX_Y\n'}])
def promise_has_an_issue(tree):
    """What is left for later names its issue: TODO(#12)."""
    for path, line, word in matches(tree, PROMISE):
        yield Finding(path, line, f'{word} without an issue number, as in {word}(#12)')


@rule('words', bad=[{'docs/a.md': 'see /home/me/x\n'}, {'tests/run': 'cd /work/main\n'},
                    {'Makefile': 'cp ../shared/x .\n'}, {'tests/a.py': "open('/root/x')\n"}],
      good=[{'docs/a.md': 'lib/work/root and http://a.example/b/home\n'}])
def no_path_of_one_machine(tree):
    """Nothing refers to a folder that only one machine has."""
    for path, line, word in matches(tree, MACHINE):
        yield Finding(path, line, f'"{word}" is a path of one machine')


@rule('words', bad=[{'lib/a/b.c': 'ndx_qp_init();\n'}], good=[{'lib/a/b.c': 'plx_rc_init();\n'}])
def prefix_is_ours(tree):
    """Names carry our prefix, plx_."""
    for path, line, word in matches(tree, PREFIX):
        yield Finding(path, line, f'"{word}": the prefix is plx_')
