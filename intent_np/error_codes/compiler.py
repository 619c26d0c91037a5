"""E9: the compiler itself"""

from .declare import COMPILE, ErrorCode

ROWS = (
    ErrorCode(
        "E901",
        COMPILE,
        "the compiler failed in {where}",
        "This is a defect of the compiler, not of the kernel.",
        "report it with the kernel; --debug shows the traceback",
    ),
)
