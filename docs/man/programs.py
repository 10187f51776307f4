# SPDX-License-Identifier: BSD-3-Clause
"""Section 1: a program, from what it says to --help=json."""
import mdoc

SEE_ALSO = [('pollux', 7), ('pollux.conf', 5)]


def sentence(option):
    """What an option does, its range and its default."""
    text = option['sentence'][0].upper() + option['sentence'][1:]
    if 'range' in option:
        text += f', {option["range"]}'
    if 'default' in option:
        text += f'. Default: {option["default"]}'
    return text.rstrip('.') + '.'


def usage(form):
    """A form of the command line, its words as arguments of .Nm."""
    _, *words = form['usage'].split()
    lines = ['.Nm']
    for word in words:
        optional = word.startswith('[')
        word = word.strip('[]')
        macro = ('Ar options ...' if word == 'OPTIONS' else
                 f'Ar {word}' if word.isupper() else f'Cm {word}')
        lines.append(f'.{"Op " * optional}{macro}')
    return lines


def flag(option):
    argument = f' Ar {option["argument"]}' if 'argument' in option else ''
    return f'Fl \\-{option["name"]}{argument}'


def options(told):
    """The options, grouped by the forms that accept them, in the order of the table."""
    groups = {}
    for option in told['options']:
        groups.setdefault(tuple(option['forms']), []).append(option)
    everywhere = tuple(form['name'] for form in told['usage'])
    lines = []
    for forms, members in groups.items():
        if len(groups) > 1:
            title = 'all forms' if forms == everywhere else ' and '.join(forms)
            lines.append(f'.Ss Options of {title}')
        lines += mdoc.tagged([(flag(one), sentence(one)) for one in members])
    return lines


def page(told):
    lines = ['.Sh SYNOPSIS']
    for form in told['usage']:
        lines += usage(form)
    lines += ['.Sh DESCRIPTION']
    for form in told['usage']:
        text = form['sentence']
        lines += ['.Pp'] * (lines[-1] != '.Sh DESCRIPTION')
        lines += [f'.Ic {form["name"]} :', *mdoc.paragraph(text[0].upper() + text[1:] + '.')]
    lines += ['.Sh OPTIONS', 'Numbers may end in K, M or G, powers of 1024.', *options(told)]
    if 'notes' in told:
        lines += ['.Sh NOTES', *mdoc.paragraphs(told['notes'].split('\n\n'))]
    lines += ['.Sh EXIT STATUS', *mdoc.paragraph(told['exit_status'])]
    if 'example' in told:
        lines += ['.Sh EXAMPLES', 'On two machines or in two terminals:',
                  *mdoc.literal('\n'.join(line.strip() for line in told['example'].splitlines()))]
    return mdoc.page(told['name'], 1, [told['name']], told['purpose'].rstrip('.?'),
                     lines + mdoc.see_also(SEE_ALSO))
