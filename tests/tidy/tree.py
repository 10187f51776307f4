# SPDX-License-Identifier: BSD-3-Clause
"""The repository as the rules see it: texts by path, and what a build made of the rooms.

A rule gets nothing else, so that a sample of three lines is as good a tree as the real one.
"""
import fnmatch
import pathlib
import re
import subprocess

TOP = ('lib', 'drivers', 'apps', 'tests', 'docs', 'config', '.ci')
ROOT_FILES = ('Makefile', 'meson.build', 'meson_options.txt', 'README.md', 'CONTRIBUTING.md',
              'LICENSE', '.clang-format', '.editorconfig', '.gitignore')
NO_TEXT = ('.pcap', '.bin', '.png', '.pyc')
C_FILES = ('*.c', '*.h')


class Finding:
    """One breach of one rule."""

    def __init__(self, path, line, message):
        self.path, self.line, self.message = path, line, message

    def __str__(self):
        return f'{self.path}:{self.line}: {self.message}'


class Tree:
    """Texts by path relative to the root; `paths` also names the files that hold no text."""

    def __init__(self, texts, archives=None, paths=()):
        self.texts = texts
        self.archives = archives or {}
        self.paths = set(texts) | set(paths)

    def files(self, patterns, under=('',)):
        """(path, text) of the files under one of the folders whose name fits a pattern, sorted."""
        for path in sorted(self.texts):
            name = path.rsplit('/', 1)[-1]
            if path.startswith(tuple(under)) and any(fnmatch.fnmatch(name, p) for p in patterns):
                yield path, self.texts[path]

    def c_files(self, under=('lib/', 'drivers/', 'apps/', 'tests/')):
        return self.files(C_FILES, under)

    def exists(self, wanted):
        """Is there a file of that name, in that folder, or fitting that glob?"""
        wanted = wanted.rstrip('/')
        return any(path == wanted or path.startswith(wanted + '/') or fnmatch.fnmatch(path, wanted)
                   for path in self.paths)


def load(root, build=None):
    """The tree under `root`; with a build directory also what its archives of the rooms hold."""
    root = pathlib.Path(root)
    texts, others = {}, []
    found = [root / name for name in ROOT_FILES]
    for top in TOP:
        found += sorted((root / top).rglob('*'))
    for path in found:
        name = path.relative_to(root).as_posix()
        if not path.is_file() or '__pycache__' in name:
            continue
        text = None if path.suffix in NO_TEXT or '/corpus/' in name else read(path)
        if text is None:
            others.append(name)
        else:
            texts[name] = text
    return Tree(texts, archives(pathlib.Path(build)) if build else None, others)


def read(path):
    """The text of a file; None when it is not UTF-8."""
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError:
        return None


def archives(build):
    """{room: what nm says of its static library, in the sysv format}"""
    found = {}
    for path in sorted(build.glob('libplx_*.a')):
        done = subprocess.run(['nm', '--format=sysv', str(path)], capture_output=True, text=True,
                              check=True)
        found[path.stem.removeprefix('libplx_')] = done.stdout
    return found


def quoted(text):
    return re.findall(r"'([^']*)'", text)


def deps(tree, home):
    """What the room's meson.build declares, to be linked or to be linked elsewhere."""
    found = re.findall(r'^(?:deps|headers_of) = \[(.*?)\]',
                       tree.texts.get(f'{home}/meson.build', ''), re.MULTILINE | re.DOTALL)
    return [name for names in found for name in quoted(names)]


def noun(home):
    """The room's own name: wire of lib/proto/wire."""
    return home.rsplit('/', 1)[-1]


def line_of(text, offset):
    """The number of the line in which a character lies."""
    return text.count('\n', 0, offset) + 1


def blank(match):
    """What was matched, as blanks, so that lines keep their numbers."""
    return re.sub(r'[^\n]', ' ', match.group())


COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
                               re.DOTALL)


def code_only(text, strings=True):
    """C without its comments and, unless told otherwise, without the inside of its strings."""
    def keep(match):
        literal = match.group()[0] in '"\''
        return match.group() if literal and not strings else blank(match)
    return COMMENT_OR_STRING.sub(keep, text)


def comments(text):
    """(line, text) of each comment of a C file."""
    for match in COMMENT_OR_STRING.finditer(text):
        if match.group().startswith(('/*', '//')):
            yield line_of(text, match.start()), match.group()
