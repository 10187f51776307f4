# SPDX-License-Identifier: BSD-3-Clause
"""Rules on the rooms of lib/: their order, their one public header, and who may include what."""
import posixpath
import re

from pure import UNDEFINED, nm_line, symbols
from rules import rule
from tree import Finding, Tree, code_only, deps, line_of, noun, quoted

HOMES = ('lib/', 'drivers/')

LIST = "rooms = ['lib/base', 'lib/wire', 'lib/mem']\n"
WIRE = {'meson.build': LIST, 'lib/base/plx_base.h': '', 'lib/base/meson.build': '',
        'lib/wire/plx_wire.h': '#include "plx_base.h"\n', 'lib/wire/bytes.h': '',
        'lib/mem/plx_mem.h': '', 'lib/mem/meson.build': "deps = ['base']\n",
        'lib/wire/meson.build': "deps = ['base']\n",
        'lib/wire/pkt.c': '#include <string.h>\n#include "bytes.h"\n#include "plx_wire.h"\n'}


def listed(tree):
    """The homes of the rooms, lib/base and so on, in the order of meson.build."""
    found = re.search(r'^rooms = \[(.*?)\]', tree.texts.get('meson.build', ''),
                      re.MULTILINE | re.DOTALL)
    return quoted(found[1]) if found else []


def home_of(tree, path):
    """The home of the room that a file belongs to; its folder when no listed room holds it."""
    held_by = [home for home in listed(tree) if path.startswith(home + '/')]
    return max(held_by, key=len) if held_by else path.rsplit('/', 1)[0]


def folders(tree):
    """The homes of the rooms that hold files, whether or not meson.build lists them."""
    return sorted({home_of(tree, path) for path, _ in tree.c_files(HOMES)}
                  | set(filter(tree.exists, listed(tree))))


def public_headers(tree, home):
    """The names of those that other rooms may include."""
    return {path.rsplit('/', 1)[-1] for path, _ in tree.files(('plx_*.h',), (f'{home}/',))
            if home_of(tree, path) == home}


def includes(text, quotes='""'):
    """(line, name) of each include of a file of ours; between other quotes, of any file."""
    opening, closing = quotes[:len(quotes) // 2], quotes[len(quotes) // 2:]
    for match in re.finditer(fr'^[ \t]*#[ \t]*include[ \t]+[{opening}]([^{closing}]+)[{closing}]',
                             code_only(text, False), re.MULTILINE):
        yield line_of(text, match.start()), match[1]


@rule('rooms', bad=[{**WIRE, 'meson.build': "rooms = ['lib/base', 'lib/mem']\n"},
                    {**WIRE, 'meson.build': "rooms = ['lib/wire', 'lib/base', 'lib/mem']\n"},
                    {**WIRE,
                     'meson.build': "rooms = ['lib/base', 'lib/wire', 'lib/mem', 'lib/misc']\n"},
                    {**WIRE, 'lib/wire/meson.build': "deps = ['base', 'mem']\n"}],
      good=[WIRE])
def rooms_stand_in_order(tree):
    """meson.build lists every room, each after those it uses."""
    order = listed(tree)
    for home in sorted(set(order) ^ set(folders(tree))):
        yield Finding('meson.build', 1, f'"{home}" is not both in the list and a folder')
    for at, home in enumerate(order):
        for dep in deps(tree, home):
            if dep not in map(noun, order[:at]):
                yield Finding(f'{home}/meson.build', 1, f'"{noun(home)}" may not use "{dep}"')


@rule('rooms', bad=[{**WIRE, 'lib/mem/table.c': '#include "plx_wire.h"\n'},
                    {**WIRE, 'lib/mem/table.c': '#include "bytes.h"\n'},
                    {**WIRE, 'lib/mem/table.c': '#include "../wire/bytes.h"\n'},
                    {**WIRE, 'lib/mem/table.c': '#include "endpoint.h"\n'}],
      good=[WIRE])
def room_includes_what_it_declares(tree):
    """A room includes its own files and the public headers of the rooms in its deps; one of its
    folders, as include/, its own."""
    public = {noun(home): public_headers(tree, home) for home in listed(tree)}
    for path, text in tree.c_files(HOMES):
        home = home_of(tree, path)
        granted = set().union(*(public.get(name, ()) for name in [noun(home), *deps(tree, home)]))
        for line, name in includes(text):
            near = (f'{home}/{name}', f'{path.rsplit("/", 1)[0]}/{name}')
            if name not in granted and not any(one in tree.texts for one in near):
                yield Finding(path, line, f'"{name}" is neither of "{home}" nor public in its deps')


ABOVE = {'meson.build': "rooms = ['lib/base', 'lib/windows/include', 'lib/windows/objects']\n",
         'lib/base/b.h': '', 'lib/base/b.c': '#include "b.h"\n',
         'lib/windows/include/winbase.h': '', 'lib/windows/objects/plx_objects.h': '',
         'lib/windows/objects/b.h': '',
         'lib/windows/objects/o.c': '#include <winbase.h>\n#include "b.h"\n'}


@rule('rooms', bad=[{**ABOVE, 'lib/base/a.c': '#include "plx_objects.h"\n'},
                    {**ABOVE, 'lib/base/a.c': '#include <winbase.h>\n'},
                    {**ABOVE, 'lib/windows/include/a.h': '#include <plx_objects.h>\n'},
                    {**ABOVE, 'lib/windows/include/a.h': '#include "../objects/b.h"\n'}],
      good=[ABOVE])
def no_include_leads_to_a_later_room(tree):
    """Of a room, no line includes what only rooms behind it in meson.build have, in whatever
    quotes."""
    order = listed(tree)
    first = {}
    for path, _ in tree.files(('*.h',), HOMES):
        home = home_of(tree, path)
        if home in order:
            base = path.rsplit('/', 1)[-1]
            first[base] = min(first.get(base, len(order)), order.index(home))
    for path, text in tree.c_files(HOMES):
        home = home_of(tree, path)
        for line, name in includes(text, '"<">') if home in order else ():
            there = posixpath.normpath(f'{path.rsplit("/", 1)[0]}/{name}')
            at = first.get(name.rsplit('/', 1)[-1], 0)
            if there in tree.texts and home_of(tree, there) in order:
                at = order.index(home_of(tree, there))
            if at > order.index(home):
                yield Finding(path, line, f'"{name}" is of {order[at]}, which comes later')


def built(map_of_mem=None, **listings):
    maps = {'lib/mem/mem.map': map_of_mem} if map_of_mem else {}
    return Tree({'meson.build': LIST, **maps}, listings)


def exports(tree, home):
    """What a room's own version script lets out: it may stand in for another library's."""
    return {name for path, text in tree.files(('*.map',), (f'{home}/',))
            for name in re.findall(r'\b(\w+);', text)}


@rule('symbols', bad=[built(base=nm_line('plx_x', 'U', '*UND*'),
                            mem=nm_line('plx_x', 'T', '.text')),
                      built(wire=nm_line('plx_x', 'w', '*UND*'),
                            mem=nm_line('plx_x', 'D', '.data'))],
      good=[built(base=nm_line('plx_x', 'T', '.text'), mem=nm_line('plx_x', 'U', '*UND*')),
            built(base=nm_line('x', 'W', '.text') + nm_line('x', 'U', '*UND*'),
                  mem=nm_line('x', 'W', '.text')),
            built(base=nm_line('memcpy', 'U', '*UND*')),
            built('{ global: read; local: *; };', base=nm_line('read', 'U', '*UND*'),
                  mem=nm_line('read', 'T', '.text'))])
def no_call_leads_to_a_later_room(tree):
    """The library of a room asks for nothing that only libraries of later rooms have. What a room
    lets out by a version script of its own, as the C library's functions, is none of that."""
    order = listed(tree)
    first = {}
    for home in order:
        own = exports(tree, home)
        for name, kind, _ in symbols(tree.archives.get(noun(home), '')):
            if kind.isupper() and kind not in UNDEFINED and name not in own:
                first.setdefault(name, home)
    for home in order:
        needed = {name for name, kind, _ in symbols(tree.archives.get(noun(home), ''))
                  if kind in UNDEFINED}
        for name in sorted(needed & set(first)):
            if order.index(first[name]) > order.index(home):
                yield Finding(home, 1, f'needs {name} of {first[name]}, which comes later')


def belongs(tree, path, home):
    """Is this test where tests/unit mirrors the room, or a table test built from there?"""
    mirror = f'tests/unit/{home.removeprefix("lib/").removeprefix("drivers/")}'
    built = tree.texts.get(f'{mirror}/meson.build', '')
    listed_there = f"'{'../' * mirror.count('/')}{path.removeprefix('tests/')}'" in built
    return listed_there or path.startswith(f'{mirror}/')


@rule('rooms', bad=[{**WIRE, 'tests/sim/a.c': '#include "bytes.h"\n'},
                    {**WIRE, 'tests/unit/mem/a.c': '#include "bytes.h"\n'},
                    {**WIRE, 'tests/sim/a.c': '#include "../../lib/wire/bytes.h"\n'}],
      good=[{**WIRE, 'tests/unit/wire/a.c': '#include "bytes.h"\n'},
            {**WIRE, 'tests/table/a.c': '#include "bytes.h"\n',
             'tests/unit/wire/meson.build': "files('../../table/a.c')\n"},
            {**WIRE, 'tests/sim/bytes.h': '', 'tests/sim/a.c': '#include "bytes.h"\n'},
            {**WIRE, 'lib/base/bytes.h': '', 'tests/unit/wire/a.c': '#include "bytes.h"\n',
             'tests/unit/base/a.c': '#include "bytes.h"\n'},
            {'lib/a/include/Ntddk.h': '', 'tests/clients/a.c': '#include "Ntddk.h"\n'}])
def tests_use_public_headers(tree):
    """Only what tests/unit/<room> builds may include a private header of that room. Those of a
    folder `include` are for everybody."""
    private = {}
    for path, _ in tree.c_files(HOMES):
        if '/include/' not in path:
            private.setdefault(path.split('/')[-1], []).append(home_of(tree, path))
    for path, text in tree.c_files(('tests/', 'apps/')):
        folder = path.rsplit('/', 1)[0]
        for line, name in includes(text):
            base = name.split('/')[-1]
            if '../' in name and any(top in name for top in HOMES):
                yield Finding(path, line, f'"{name}" reaches into a room by its path')
            elif (base in private and not base.startswith('plx_')
                  and f'{folder}/{name}' not in tree.texts
                  and f'tests/harness/{name}' not in tree.texts
                  and not any(belongs(tree, path, home) for home in private[base])):
                yield Finding(path, line, f'"{name}" is private to {" and ".join(private[base])}')


def include_graph(tree):
    """{header: [headers it includes]}, within the rooms."""
    by_name = {path.split('/')[-1]: path for path, _ in tree.c_files(HOMES)
               if path.split('/')[-1].startswith('plx_')}
    graph = {}
    for path, text in tree.c_files(HOMES):
        folder = path.rsplit('/', 1)[0]
        near = [f'{folder}/{name}' for _, name in includes(text)]
        graph[path] = [to if to in tree.texts else by_name.get(to.split('/')[-1]) for to in near]
    return graph


@rule('rooms', bad=[{'lib/a/x.h': '#include "y.h"\n', 'lib/a/y.h': '#include "x.h"\n'}],
      good=[WIRE])
def includes_have_no_cycle(tree):
    """No header of a room includes itself, by whatever way round."""
    graph = include_graph(tree)
    done = set()

    def visit(path, trail):
        if path in trail:
            yield Finding(path, 1, 'includes itself: ' + ' > '.join([*trail, path]))
        elif path in graph and path not in done:
            for to in graph[path]:
                yield from visit(to, [*trail, path])
            done.add(path)

    for path in sorted(graph):
        yield from visit(path, [])


@rule('rooms', bad=[{'lib/a/x.h': 'int x;\n'},
                    {'lib/a/plx_a.h': '#ifndef PLX_B_H\n#define PLX_B_H\n#endif\n'}],
      good=[{'lib/a/plx_a.h': '/* a */\n#ifndef PLX_A_H\n#define PLX_A_H\n\n#endif\n'},
            {'lib/a/pack.h': '/* a */\n#pragma pack(push, 1)\n'}])
def header_is_guarded(tree):
    """A header of a room opens with an include guard; a public one is named after its file. One
    that only pushes or pops what its fellow pops has none."""
    for path, text in tree.files(('*.h',), HOMES):
        if re.fullmatch(r'\s*#pragma pack\((push, \d+|pop)\)\s*', code_only(text)):
            continue
        found = re.match(r'\s*#ifndef (PLX_\w+_H)\n#define \1\n', code_only(text))
        name = path.split('/')[-1]
        if not found:
            yield Finding(path, 1, 'no include guard PLX_..._H')
        elif name.startswith('plx_') and found[1] != name.upper().replace('.', '_'):
            yield Finding(path, 1, f'the guard of {name} is {found[1]}')


# Where posting threads, which may wait for each other, do what they do.
POSTERS = 'lib/engine/front/'
WAITS = re.compile(r'\b(producer_(lock|unlock|reserve|commit)|engine_rq_post|'
                   r'engine_sq_(post|post_usual|post_local|wake)|'
                   r'plx_engine_qp_ring_doorbell|plx_engine_qp_post_\w+|plx_post_srq_recv|'
                   r'plx_srq_resize)\s*\(')


@rule('rooms', bad=[{'lib/engine/cycle/doorbell.c': 'void f(void)\n{\n'
                                              '\tplx_engine_qp_ring_doorbell(qp);\n}\n'},
                    {'lib/engine/queue/sq_fetch.c': '#include "producer_lock.h"\n'},
                    {'lib/engine/cycle/send.c':
                     'static void\nf(void)\n{\n\tproducer_lock(p);\n}\n'},
                    {'lib/engine/cycle/plx_engine_cycle.h': '#include "producer_lock.h"\n'}],
      good=[{'lib/engine/front/sq.c': '#include "producer_lock.h"\n'
                                  'void f(void)\n{\n\tproducer_lock(t);\n}\n',
             'lib/engine/cycle/plx_engine.h': 'void plx_engine_qp_ring_doorbell(void *qp);\n',
             'lib/engine/cycle/doorbell.c': '/* as plx_engine_qp_ring_doorbell() does */\n'
                                      'void f(void)\n{\n\tengine_sq_ring_doorbell(sq);\n}\n'}])
def an_engine_waits_for_no_poster(tree):
    """Only what posting threads run can lock a producer: the engine's files cannot."""
    for path, text in tree.c_files(('lib/engine/',)):
        if path.startswith(POSTERS):
            continue
        for line, name in includes(text):
            if name == 'producer_lock.h':
                yield Finding(path, line, 'only lib/engine/front includes producer_lock.h')
        if path.endswith('.h'):
            continue
        code = code_only(text, False)
        for match in WAITS.finditer(code):
            yield Finding(path, line_of(code, match.start()),
                          f'{match[1]}() waits for posting threads; an engine must not')


@rule('rooms', bad=[{**WIRE, 'lib/wire/pkt.c': 'char *a = getenv("A");\n'}],
      good=[{**WIRE, 'lib/wire/pkt.c': 'char *a = secure_getenv("A");\n'}])
def libraries_ask_the_environment_of_their_own_user(tree):
    """A library in a program with more rights than its caller takes no orders from the caller."""
    for path, text in tree.texts.items():
        if path.startswith(HOMES) and path.endswith('.c'):
            for match in re.finditer(r'\bgetenv\s*\(', code_only(text)):
                yield Finding(path, line_of(text, match.start()), 'getenv(), not secure_getenv()')
