# SPDX-License-Identifier: BSD-3-Clause
"""Section 5: pollux.conf, from the comments of config/pollux.conf."""
import re

import mdoc

FILES = [('Pa /etc/pollux/pollux.conf', 'The configuration file.'),
         ('Ev POLLUX_CONFIG', 'Names another one. A program with more rights than its caller '
          '(set-user-ID, file capabilities) ignores it.')]


def read(text):
    """The opening paragraphs, and (name, example, paragraphs) of each setting, each once."""
    opening, found, block = [], {}, []
    for line in text.splitlines():
        comment = re.match(r'\s*#(?: ?(\s*)(.*))?$', line)
        setting = re.match(r'\s*(\w+) = (.*);$', line)
        if comment:
            block.append((comment[1] or '') + (comment[2] or ''))
            continue
        if setting and block:
            found.setdefault(setting[1], (setting[2], split(block)))
        elif block and not found:
            opening += split(block)
        block = []
    return opening, [(name, *rest) for name, rest in found.items()]


def split(lines):
    """Paragraphs of a comment; a table in it, of indented lines, stays lines."""
    return [one for one in re.split(r'\n\n', '\n'.join(lines)) if one.strip()]


def text_of(paragraphs):
    lines = []
    for one in paragraphs:
        table = [line for line in one.splitlines() if line.startswith('  ')]
        words = ' '.join(line for line in one.splitlines() if line not in table)
        lines += ['.Pp'] * bool(lines) + mdoc.paragraph(words)
        rows = [re.match(r'\s*"([^"]*)"\s*(.*)', line).groups() for line in table]
        lines += mdoc.tagged([(f'Li {value}', text) for value, text in rows])
    return lines


def page(text):
    opening, entries = read(text)
    rows = [(f'Ic {name}', [*mdoc.literal(f'{name} = {example};'), *text_of(paragraphs)])
            for name, example, paragraphs in entries]
    top = [row for row in rows if row[0] == 'Ic eal']
    adapter = [row for row in rows if row not in top]
    bare = [line for line in text.splitlines() if not re.match(r'\s*#', line)]
    example = re.sub(r'\n\n+', '\n', '\n'.join(bare)).strip()
    lines = ['.Sh DESCRIPTION', *text_of(opening),
             '.Ss Settings of the process', *mdoc.tagged(top),
             '.Ss Settings of an adapter',
             'Each adapter is a group of', '.Ic adapters .', *mdoc.tagged(adapter),
             '.Sh ENVIRONMENT', *mdoc.tagged(FILES[1:]),
             '.Sh FILES', *mdoc.tagged(FILES[:1]),
             '.Sh EXAMPLES', *mdoc.literal(example),
             *mdoc.see_also([('pollux', 7), ('pollux_adapters', 3)])]
    return mdoc.page('pollux.conf', 5, ['pollux.conf'], 'configuration of Pollux', lines)
