# SPDX-License-Identifier: BSD-3-Clause
"""The register of rules: a rule is a function from a tree to findings, with samples.

Every rule says what it refuses (`bad`) and what it lets pass (`good`), as trees of a few lines; the
self-test holds it to both, so that no rule can silently stop firing.
"""
import tree

REGISTER = []


class Rule:
    """A check, the group (one Meson test) it belongs to, and its samples."""

    def __init__(self, group, check, bad, good):
        self.group, self.check, self.bad, self.good = group, check, bad, good
        self.name = check.__name__

    def selftest(self):
        """What is wrong with the rule itself, as sentences."""
        faults = [f'{self.name}: bad sample {i} was let pass' for i, sample in enumerate(self.bad)
                  if not list(self.check(as_tree(sample)))]
        for i, sample in enumerate(self.good):
            faults += [f'{self.name}: good sample {i} was refused: {finding}'
                       for finding in self.check(as_tree(sample))]
        if not self.bad or not self.good:
            faults.append(f'{self.name}: no sample to test it with')
        return faults


def as_tree(sample):
    """A sample is a Tree, or a dictionary of texts by path."""
    return sample if isinstance(sample, tree.Tree) else tree.Tree(sample)


def rule(group, bad, good):
    """Register the function below as a rule."""
    def register(check):
        REGISTER.append(Rule(group, check, bad, good))
        return check
    return register


def of_group(group):
    return [entry for entry in REGISTER if entry.group == group]


def groups():
    return sorted({entry.group for entry in REGISTER})
