"""E3: memory and effects"""

from .declare import COMPILE, ErrorCode

ROWS = (
    ErrorCode(
        "E301",
        COMPILE,
        "the index of axis {axis} of '{name}' is not provably inside its extent",
        "An access outside the resource has no meaning and may corrupt memory on the device.",
        "derive the index from a domain of that axis (or limit it with I.minimum and I.maximum), guard the access with "
        "if or with I.gather(..., valid=, fill=), or promise it with I.assume_in_bounds(index, view, axis=)",
    ),
    ErrorCode(
        "E302",
        COMPILE,
        "'{name}' is an input and cannot be written",
        "I.In promises the caller that its array is not changed.",
        "annotate the parameter I.Out or I.InOut",
        "a write to an I.Out or I.InOut parameter, or to a buffer",
    ),
    ErrorCode(
        "E303",
        COMPILE,
        "points of one parallel write the same element of '{name}'",
        "The points are unordered, so that the last writer is not determined.",
        "index the destination with every parallel axis, or reduce over the axis",
    ),
    ErrorCode(
        "E304",
        COMPILE,
        "the destination index of '{name}' is not provably unique",
        "Two lanes that write one element are a race.",
        "index the destination with the points themselves, each in a place of its own, promise it with "
        "I.assume_unique(index), or let lanes meet in I.scatter_reduce or I.atomic",
    ),
    ErrorCode(
        "E305",
        COMPILE,
        "a point of this parallel reads what another point writes",
        "The points are unordered: what is read is not determined.",
        "split the kernel, or move the read to a later statement",
    ),
    ErrorCode(
        "E306",
        COMPILE,
        "{effect} is not allowed here",
        "A combine, summarize or emit function may run any number of times, on any slice.",
        "move the effect out of the function",
        "a pure expression",
    ),
    ErrorCode(
        "E307",
        COMPILE,
        "'{name}' is read before it is written",
        "The contents of an I.Out or a buffer are unspecified until the kernel writes them.",
        "write it first, give a buffer an init, or annotate a parameter I.InOut if it keeps its contents",
    ),
    ErrorCode(
        "E308",
        COMPILE,
        "index {index} is outside axis {axis} of '{name}'",
        "The extent is {extent}, so that the access can never be inside.",
        "use an index below {extent}; negative ones count from the end",
    ),
    ErrorCode(
        "E309",
        COMPILE,
        "the bounds of the domain are not provably in order",
        "An axis has no negative extent, and a subregion is never clamped: its members are members of the source.",
        "guard the statement with if, or limit the bounds: low = I.clamp(begin, 0, N), high = I.clamp(end, low, N)",
    ),
    ErrorCode(
        "E310",
        COMPILE,
        "{operation} has no such memory order",
        "What does not write can't release, and what does not read can't acquire.",
        "leave the order relaxed, or choose one that the operation has",
    ),
    ErrorCode(
        "E311",
        COMPILE,
        "the step of the domain is not provably above 0",
        "The coordinates of a domain ascend: what comes after what is the same for every loop and every target.",
        "guard the statement with if step > 0, or limit it: I.maximum(step, 1)",
        "a step above 0",
    ),
    ErrorCode(
        "E312",
        COMPILE,
        "nothing writes the output '{name}'",
        "The caller would get an array of arbitrary contents.",
        "assign to its elements, {name}[...] = value, or drop the parameter",
        "an assignment to elements of '{name}'",
    ),
)
