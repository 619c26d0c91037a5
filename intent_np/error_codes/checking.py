"""E5: checking mode"""

from .declare import CHECK, ErrorCode

ROWS = (
    ErrorCode(
        "E502",
        CHECK,
        "an access to '{name}' is outside the resource",
        "The index was promised, or proved from a promise, to be inside.",
        "correct the index or the promise",
    ),
    ErrorCode(
        "E503",
        CHECK,
        "'{name}' breaks a law that its operation promises",
        "The compiler regroups and reorders by these laws, and the result would depend on the order.",
        "correct the function or the identity",
    ),
    ErrorCode(
        "E504",
        CHECK,
        "an element of '{name}' is read before anything wrote it",
        "Its value is unspecified.",
        "initialise it, or narrow the access to what was written",
    ),
    ErrorCode(
        "E505",
        CHECK,
        "accesses to '{name}' are in conflict",
        "Instances of a program run in any order, and the lanes of a store all at once.",
        "let each element be written once, by one instance, and read by no other",
        "elements that no other instance or lane touches",
    ),
    ErrorCode(
        "E506",
        CHECK,
        "a padded lane of a block reads '{name}'",
        "Lanes past the end of an axis belong to no member, and what they would read means nothing.",
        "guard the load with the membership of its lanes",
    ),
    ErrorCode(
        "E507",
        CHECK,
        "an invalid '{name}' is used",
        "Its outcome is poison: the device computes some value there, another one on each target.",
        "guard the operands, or select another value where they are invalid",
        "operands for which the operation is defined, or a select that drops the outcome",
    ),
    ErrorCode(
        "E508",
        CHECK,
        "an invalid conversion to {name} is used",
        "Its outcome is poison: the device computes some value there, another one on each target.",
        "use I.saturate_cast, or select another value where the operand does not fit",
        "a value that the type holds after rounding",
    ),
    ErrorCode(
        "E509",
        CHECK,
        "a masked member of '{name}' is not finite",
        "A member that a mask removes may be skipped or multiplied by zero, and zero times infinity is no zero.",
        "select the non-finite values away as well",
        "finite values wherever the other operand is masked",
    ),
    ErrorCode(
        "E510",
        CHECK,
        "'{name}' is not {promise}, as was promised",
        "The compiler relies on the promise without a test at run time.",
        "correct the arguments, or take the promise back",
    ),
    ErrorCode(
        "E520",
        CHECK,
        "a debug assertion does not hold: {text}",
        "The kernel says so itself.",
        "correct the kernel or its arguments",
    ),
    ErrorCode(
        "E515",
        CHECK,
        "the metadata of '{name}' names no places of a group",
        "Each kept member has a place of its own in its group of {width}, and the places ascend.",
        "write the position inside the group, counted from 0, for each member that is kept",
        "ascending places from 0 to {width}, excluded",
    ),
)
