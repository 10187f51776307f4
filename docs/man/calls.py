# SPDX-License-Identifier: BSD-3-Clause
"""Section 3: a page for each section of the public headers, from its declarations and docstrings,
and a link to it for each function. A section of two headers with one title is one page."""
import re

import mdoc

TAG = re.compile(r'(?:^|(?<=[\s.)]))(?=@param |'
                 r'(?:Returns|Changes|Errors(?: \([^)]*\))?|Threads|Cost|Spec|Tests):\s)')
BANNER = re.compile(r'-{4} (.+?)\s*-*$', re.MULTILINE)
PIECE = re.compile(r'''
    (?P<comment>/\*.*?\*/)
  | (?P<define>^\#define[ ](?:[^\n]*\\\n)*[^\n]*\n)
  | (?P<other>^\#[^\n]*\n | ^extern[ ]"C"[ ]\{ | ^\}$)
  | (?P<declaration>^[A-Za-z](?:[^;{]*\{.*?^\}[^;]*|[^;{]*);)
''', re.VERBOSE | re.DOTALL | re.MULTILINE)
ITEM = re.compile(r'X\((\w+),(?: (\d+),)? "([^"]*)"\)')
NO_CONSTANT = re.compile(r'#define (PLX_(MUST_CHECK|API|\w+_API|\w+_H)\b|\w+\()')


class Section:
    def __init__(self, title):
        self.title = title
        self.headers = []
        self.items = []
        self.functions = []

    @property
    def name(self):
        return 'pollux_' + re.sub(r'\W+', '_', self.title.strip('?'))


def bare(comment):
    """The text of a comment, its stars and slashes gone."""
    lines = re.sub(r'^/\*+|\*/$', '', comment).splitlines()
    return '\n'.join(re.sub(r'^[ \t]*\*?[ \t]?', '', line).rstrip() for line in lines).strip()


def read(path, sections, lists):
    """Add what a header declares to `sections`, by title."""
    text = path.read_text()
    section, doc = None, ''
    for piece in PIECE.finditer(text, text.index('*/') + 2):
        kind, code = piece.lastgroup, piece.group().strip()
        if kind == 'comment':
            doc = bare(code)
            banner = BANNER.match(doc.replace('\n----', ' ----'))
            if banner:
                title = banner[1]
                section = sections.setdefault(title, Section(title))
                if path.name not in section.headers:
                    section.headers.append(path.name)
                doc = '\n'.join(doc.splitlines()[1:]).strip(' -\n')
                if doc:
                    section.items.append(('text', '', doc))
                doc = ''
            elif text[piece.end():piece.end() + 2] == '\n\n' and section:
                section.items.append(('text', '', doc))
                doc = ''
            continue
        if kind == 'define' and '_LIST(X)' in code:
            lists[re.search(r'(\w+)\(X\)', code)[1]] = (doc, ITEM.findall(code))
        elif kind == 'define' and not NO_CONSTANT.match(code):
            add_constant(section, code, doc)
        elif kind == 'declaration' and not re.fullmatch(r'(struct|typedef struct) \w+;', code):
            if section is None:
                raise SystemExit(f'{path}: no section before {code.splitlines()[0]}')
            add(section, code, doc, lists)
        doc = ''


def add_constant(section, code, doc):
    """A line of its own, or one more of those before it."""
    kind, before, _ = section.items[-1] if section.items else ('', '', '')
    if kind == 'code' and before.startswith('#define') and not doc:
        section.items[-1] = ('code', f'{before}\n{code}', section.items[-1][2])
    else:
        section.items.append(('code', code, doc))


def add(section, code, doc, lists):
    function = re.match(r'\w*API\b\s+(.*?)(\w+)\((.*)\)[^)]*;$', code, re.DOTALL)
    listed = re.search(r'(\w+_LIST)\(PLX_X\)', code)
    if function:
        section.functions.append(function[2])
        section.items.append(('function', function.groups(), doc))
    elif listed:
        prefix = re.search(r'\) (PLX_\w*?)##', code)[1]
        said, values = lists[listed[1]]
        name = re.match(r'enum \w+', code)[0]
        section.items.append(('list', (name, prefix, values), re.sub(r' ?X\(.*?\)', '', said)))
    else:
        section.items.append(('code', code, doc))


def arguments(text):
    """The parameters of a prototype, split at its own commas."""
    depth, one, out = 0, '', []
    for letter in ' '.join(text.split()):
        depth += (letter == '(') - (letter == ')')
        if letter == ',' and depth == 0:
            out.append(one.strip())
            one = ''
        else:
            one += letter
    return [*out, one.strip()]


def prototype(function):
    returns, name, parameters = function
    lines = [f'.Ft "{returns.strip()}"', f'.Fo {name}']
    lines += [f'.Fa "{one}"' for one in arguments(re.sub(r'\)\s*PLX_MUST_CHECK$', '', parameters))]
    return [*lines, '.Fc']


def described(doc):
    """A docstring: its sentences, then its parameters and tags as a list."""
    plain, rows = [], []
    for block in re.split(r'\n\s*\n', doc):
        for part in TAG.split(' '.join(block.split())):
            if part.startswith('@param'):
                _, name, text = (part + ' ').split(' ', 2)
                rows.append((f'Fa {name}', text.strip() or 'see above'))
            elif TAG.match(part):
                tag, text = part.split(':', 1)
                if tag != 'Tests':
                    rows.append((tag.replace('Spec', 'Specification'), text.strip()))
            elif part.strip():
                plain.append(part.strip())
    return mdoc.paragraphs(plain) + mdoc.tagged(rows)


def body(section):
    lines = []
    for kind, what, doc in section.items:
        if kind == 'function':
            lines += [f'.Ss {what[1]}()', *described(doc)]
            continue
        if kind == 'code':
            lines += [f'.Ss {title(what)}', *described(doc), *mdoc.literal(what)]
        elif kind == 'list':
            name, prefix, values = what
            lines += [f'.Ss {name}', *described(doc)]
            lines += mdoc.tagged([(f'Dv {prefix}{one}' + f' No ( {value} )' * bool(value), text)
                                  for one, value, text in values])
        else:
            lines += described(doc)
    return lines


def title(code):
    """What a declaration that is no function declares."""
    named = re.match(r'(struct|enum) \w+', code)
    return named[0] if named else 'Constants'


def sections_of(headers):
    sections, lists = {}, {}
    for header in headers:
        read(header, sections, lists)
    return [one for one in sections.values() if one.items]


def pages(headers):
    """(file name, text) of each page and of each link to one."""
    for section in sections_of(headers):
        synopsis = ['.Sh SYNOPSIS', *(f'.In {header}' for header in section.headers)]
        for kind, what, _ in section.items:
            if kind == 'function':
                synopsis += prototype(what)
        others = [('pollux', 7)] + [('pollux_status', 3)] * (section.title != 'status')
        lines = [*synopsis, '.Sh DESCRIPTION', *body(section), *mdoc.see_also(others)]
        names = section.functions or [section.name]
        yield f'{section.name}.3', mdoc.page(section.name, 3, names, about(section), lines)
        for function in section.functions:
            yield f'{function}.3', f'.so man3/{section.name}.3\n'


def about(section):
    return f'Pollux: {section.title}'
