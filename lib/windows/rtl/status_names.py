#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The names that ntstatus.h defines, as rows of a table in C.
Usage: status_names.py HEADER"""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text()
for name in re.findall(r'#define (STATUS_\w+) +\(\(NTSTATUS\)', text):
    print(f'{{{name}, "{name}"}},')
