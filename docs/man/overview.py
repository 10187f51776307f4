# SPDX-License-Identifier: BSD-3-Clause
"""Section 7: the overview, written by hand but for its date and its list of section 3."""
import mdoc


def page(text, sections, date):
    rows = [(f'Xr {one.name} 3', ', '.join(f'{name}()' for name in one.functions) or one.title)
            for one in sections]
    return text.replace('@DATE@', date).replace('@CALLS@', '\n'.join(mdoc.tagged(rows)))
