# SPDX-License-Identifier: BSD-3-Clause
"""From the results of ndperf to rows of the table: medians, ratios, the scaled floor, the verdict.

A ratio is the median of the ratios of single rounds, not the ratio of two medians: the machine
changes its speed from second to second, and in one round both figures met the same speed.
"""
import statistics
from dataclasses import dataclass

from rows import CRC_BEST_NS, LINE_BEST_NS, Fixed, Floor, Hops


@dataclass(frozen=True)
class Line:
    """A row with its figures; None where there is none."""
    row: object
    value: float = None
    yardstick: float = None
    ratio: float = None
    note: str = ''
    clean: int = 0  # rounds that count

    def passes(self):
        """Is the bar met? On a machine too busy to tell it is not."""
        if self.ratio is None or not self.clean:
            return False
        return self.ratio <= self.row.bar if self.row.at_most else self.ratio >= self.row.bar

    def as_json(self):
        """The object that bench.json has of it."""
        return {'name': self.row.name, 'value': self.value, 'unit': self.row.unit,
                'yardstick': self.yardstick, 'ratio': self.ratio, 'bar': self.row.bar,
                'pass': self.passes()}


def scale(calibration, crosses_cores):
    """How fast the machine is now, 1 being the quiet machine of the floor; never above 1, because
    a calibration that is better than the best says nothing about the rest of the machine."""
    speed = min(1.0, CRC_BEST_NS / calibration['crc_ns'])
    if crosses_cores and calibration['line_ns'] > 0:
        speed = min(speed, LINE_BEST_NS / calibration['line_ns'])
    return speed


@dataclass(frozen=True)
class Sample:
    """A figure of one round; `quiet` when the round had enough clean windows."""
    value: float
    calibration: dict
    quiet: bool


# By which a figure finds its result.
FIELDS = ('op', 'test', 'size', 'raw', 'api', 'qps', 'batch', 'direction')


def field_of(result, path):
    """The field of a result, or of an object in it; None: there is none."""
    for name in path.split('/'):
        result = result.get(name) if isinstance(result, dict) else None
    return result


def pick(outputs, figure):
    """The figure in each result that has it, as samples in the order they were measured."""
    found = []
    for output in outputs.get(figure.call, []):
        for result in output['results']:
            if all(getattr(figure, name) in (None, result.get(name)) for name in FIELDS):
                value = field_of(result, figure.what) or result['mean']
                if value:
                    found.append(Sample(value, output['calibration'], not result.get('note')))
    return found


def yardsticks(outputs, yardstick, values):
    """What each of `values` is held against, as samples in the same order."""
    if isinstance(yardstick, Floor):
        speeds = [scale(sample.calibration, yardstick.crosses_cores) for sample in values]
        return [Sample(yardstick.value * speed if yardstick.is_rate else yardstick.value / speed,
                       sample.calibration, True) for speed, sample in zip(speeds, values)]
    if isinstance(yardstick, Fixed):
        return [Sample(yardstick.value, sample.calibration, True) for sample in values]
    if isinstance(yardstick, Hops):
        # The ring is timed beside the value, which crosses cores, not beside the yardstick.
        return [Sample(inline.value + yardstick.hops * sample.calibration['ring_ns'],
                       inline.calibration, inline.quiet)
                for inline, sample in zip(pick(outputs, yardstick.figure), values)]
    return pick(outputs, yardstick)


def judge(row, outputs, errors):
    """The line of a row. Rounds in which the machine was busy count only when there are no others.
    """
    values = pick(outputs, row.value)
    rounds = list(zip(values, yardsticks(outputs, row.yardstick, values)))
    if not rounds:
        calls = (row.value.call, getattr(row.yardstick, 'call', row.value.call))
        said = [errors[call] for call in calls if call in errors]
        return Line(row, note=said[0] if said else 'ndperf printed no such row')
    quiet = [pair for pair in rounds if pair[0].quiet and pair[1].quiet]
    counted = quiet or rounds
    return Line(row, statistics.median(value.value for value, _ in counted),
                statistics.median(against.value for _, against in counted),
                statistics.median(value.value / against.value for value, against in counted),
                '' if len(quiet) == len(rounds) else
                f'busy machine: {len(quiet)} of {len(rounds)} rounds clean', len(quiet))


def number(value, unit):
    """A value as a reader wants it."""
    if value is None:
        return '-'
    if unit == 'bit/s':
        return f'{value / 1e9:.1f} Gbit/s'
    if unit == 'msg/s':
        return f'{value / 1e6:.2f} M/s'
    if unit == 'bytes':
        return f'{value:,.0f} B'
    if unit == 'core':
        return f'{value / 1e6:.4f}'
    return f'{value:.0f} ns'


def table(lines):
    """The lines, aligned."""
    cells = [['measure', 'value', 'yardstick', 'ratio', 'bar', '']]
    for line in lines:
        bar = f"{'<=' if line.row.at_most else '>='} {line.row.bar:.2f}"
        ratio = '-' if line.ratio is None else f'{line.ratio:.2f}'
        verdict = 'pass' if line.passes() else 'FAIL'
        cells.append([line.row.name, number(line.value, line.row.unit),
                      number(line.yardstick, line.row.unit), ratio, bar,
                      verdict + (f'  ({line.note})' if line.note else '')])
    widths = [max(len(row[i]) for row in cells) for i in range(5)]
    return '\n'.join('  '.join([row[0].ljust(widths[0])] +
                               [row[i].rjust(widths[i]) for i in range(1, 5)] + [row[5]]).rstrip()
                     for row in cells)


def machine(outputs):
    """A sentence on the calibration, of all calls."""
    def median(name):
        values = [output['calibration'][name] for called in outputs.values() for output in called
                  if output['calibration'].get(name)]
        return statistics.median(values) if values else 0.0
    crc, line = median('crc_ns'), median('line_ns')
    slow = max(crc / CRC_BEST_NS, line / LINE_BEST_NS)
    return (f"calibration: CRC of 4 KiB {crc:.1f} ns (best {CRC_BEST_NS:.0f}), cache line from "
            f"core to core {line:.0f} ns (best {LINE_BEST_NS:.0f}), ring entry "
            f"{median('ring_ns'):.0f} ns"
            + ('; the machine is slow now, and absolute figures are too low' if slow > 1.3 else ''))
