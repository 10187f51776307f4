#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The wire scripts of a folder beside this file.

ls.py FOLDER                 prints their names, one a line, sorted, for meson.build
ls.py FOLDER --are NAME...   fails when they are not these: a script came or went since set-up
"""
import pathlib
import sys

folder = pathlib.Path(__file__).resolve().parent / sys.argv[1]
names = sorted(path.name for path in folder.glob("*.plx"))
if "--are" not in sys.argv:
    print("\n".join(names))
    sys.exit()
known = sys.argv[sys.argv.index("--are") + 1:]
for name in sorted(set(names) ^ set(known)):
    print(f"{name}: not known to the build directory: run `meson setup --reconfigure`")
print(f"{len(names)} scripts, {len(known)} tests")
sys.exit(sorted(known) != names or not names)
