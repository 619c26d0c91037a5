"""normal -> grouped: the program space appears.

store y[row, columns] = …              group over (row) { store y[row, columns] = … }
"""

from __future__ import annotations

from ..terms.grouped import GROUPED, Group, GroupedProgram
from ..terms.normal import NORMAL, Program
from .base import nanopass
from .roles import program_axes


@nanopass(NORMAL, GROUPED)
def form_groups(program: Program) -> GroupedProgram:
    """One execution group whose instances are the points of the axes that every store can be spread over.

    From here on a program says which instance does what; the rest of each store happens inside an instance.
    Preserves the stored elements: instances write disjoint elements, effects keep their order inside each.
    """
    group = Group(program_axes(program.effects), program.effects)
    return GroupedProgram(program.name, program.parameters, (group,), program.permissions, program.target)
