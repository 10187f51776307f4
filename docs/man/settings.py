# SPDX-License-Identifier: BSD-3-Clause
"""Section 5: pollux.conf and polluxd.conf, from the comments of the files in config."""
import re

import mdoc

# What the files do not say: of each its purpose, the variables and files it has to do with, and
# what else to read.
PAGES = {
    'pollux.conf': (
        'configuration of Pollux',
        [('Ev POLLUX_CONFIG', 'Names another file. A program with more rights than its caller '
          '(set-user-ID, file capabilities) ignores this variable and the next.'),
         ('Ev POLLUX_HOST', 'The path of a socket, which replaces that of `host` in every adapter '
          'of the program.')],
        [('Pa /etc/pollux/pollux.conf', 'The configuration file.')],
        [('pollux', 7), ('pollux_adapters', 3)]),
    'polluxd.conf': (
        'adapters that polluxd owns, and who may use them', [],
        [('Pa /etc/pollux/polluxd.conf', 'The configuration file.')],
        [('pollux.conf', 5), ('pollux', 7)]),
}


def read(text):
    """The opening paragraphs, and (group, name, example, paragraphs) of each setting, each once.
    The group is that in which it stands, and empty for those of the process."""
    opening, found, block, group = [], {}, [], ''
    for line in text.splitlines():
        comment = re.match(r'\s*#(?: ?(\s*)(.*))?$', line)
        setting = re.match(r'\s*(\w+) = (.*);$', line)
        begun = re.match(r'(\w+) = [{(]$', line)
        group = begun[1] if begun else '' if re.match(r'[})]', line) else group
        if comment:
            block.append((comment[1] or '') + (comment[2] or ''))
            continue
        if setting and block:
            found.setdefault((group, setting[1]), (setting[2], split(block)))
        elif block and not found:
            opening += split(block)
        block = []
    return opening, [(*key, *rest) for key, rest in found.items()]


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


def section(title, text, group, entries):
    """The settings of a group, below its title; nothing, if there are none."""
    rows = [(f'Ic {name}', [*mdoc.literal(f'{name} = {example};'), *text_of(paragraphs)])
            for of, name, example, paragraphs in entries if of == group]
    return [f'.Ss {title}', *text, *mdoc.tagged(rows)] if rows else []


def page(name, text):
    purpose, environment, files, see_also = PAGES[name]
    opening, entries = read(text)
    bare = [line for line in text.splitlines() if not re.match(r'\s*#', line)]
    example = re.sub(r'\n\n+', '\n', '\n'.join(bare)).strip()
    lines = ['.Sh DESCRIPTION', *text_of(opening),
             *section('Settings of the process', [], '', entries),
             *section('Settings of the daemon', ['They are a group,', '.Ic daemon .'], 'daemon',
                      entries),
             *section('Settings of an adapter', ['Each adapter is a group of', '.Ic adapters .'],
                      'adapters', entries)]
    if environment:
        lines += ['.Sh ENVIRONMENT', *mdoc.tagged(environment)]
    lines += ['.Sh FILES', *mdoc.tagged(files), '.Sh EXAMPLES', *mdoc.literal(example),
              *mdoc.see_also(see_also)]
    return mdoc.page(name, 5, [name], purpose, lines)
