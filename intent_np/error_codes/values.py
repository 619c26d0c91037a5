"""E2: types and shapes"""

from .declare import COMPILE, ErrorCode

ROWS = (
    ErrorCode(
        "E201",
        COMPILE,
        "'{operator}' mixes {left} and {right}",
        "Nothing is promoted or converted silently: where precision changes is the author's decision.",
        "cast one side: I.cast(value, I.{left}) or I.cast(value, I.{right})",
        "operands of one dtype",
    ),
    ErrorCode(
        "E202",
        COMPILE,
        "{operation} is not defined for {dtype}",
        "The operation has no meaning on such elements.",
        "cast the operand to a dtype that has it",
    ),
    ErrorCode(
        "E203",
        COMPILE,
        "the literal {value} does not fit {dtype}",
        "A literal takes the dtype that its use expects, and never wraps or overflows silently.",
        "use a literal in range, or a wider dtype",
        "a value that {dtype} represents",
    ),
    ErrorCode(
        "E204",
        COMPILE,
        "shapes {left} and {right} do not broadcast",
        "Broadcast is right-aligned: extents are provably equal, or one is a static 1. "
        "Two names are merely not known equal.",
        "give both extents one name, or insert an axis with None",
        "equal extents, or a static 1",
    ),
    ErrorCode(
        "E205",
        COMPILE,
        "{name} has rank {rank}, and is subscripted along {count}",
        "Each axis is indexed once; an omitted trailing axis is taken whole.",
        "remove subscripts, or add the axis to the annotation",
    ),
    ErrorCode(
        "E206",
        COMPILE,
        "axis {axis} is out of range for rank {rank}",
        "An axis counts from 0, or from -1 backwards.",
        "use an axis between {low} and {high}",
    ),
    ErrorCode(
        "E207",
        COMPILE,
        "'{name}' changes its type",
        "A name carried through a loop or merged after a branch keeps its dtype, its rank and its shape.",
        "cast the value, or use another name",
    ),
    ErrorCode(
        "E208",
        COMPILE,
        "the shapes of {operation} do not match",
        "The operation pairs these axes element by element.",
        "{suggestion}",
    ),
    ErrorCode(
        "E209",
        COMPILE,
        "a value of {found_dtype} is stored to '{name}' of {dtype}",
        "Stores never convert: where precision is lost is the author's decision.",
        "store I.cast(value, I.{dtype})",
        "a value of dtype {dtype}",
    ),
    ErrorCode(
        "E210",
        COMPILE,
        "{k} of {extent} members are asked for",
        "What is selected exists: there is no smallest part of nothing, and no member past the end.",
        "choose a k from 1 to the extent; an extent known only at the call needs a guard such as: if N >= 8",
        "a k from 1 to {extent}, provably",
    ),
    ErrorCode(
        "E211",
        COMPILE,
        "the cut axis of {operation} meets {construct}",
        "The compiler cuts the axis where it likes, so that nothing may depend on where a slice begins or ends: its "
        "extent shapes tensors, and along it stand pointwise operations, I.reduce, I.scan and contractions.",
        "pass coordinates as a component of the source: I.indices(axis); and do the rest before or behind the region",
    ),
)
