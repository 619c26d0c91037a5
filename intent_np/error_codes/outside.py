"""E0: the language used outside its place"""

from .declare import USE, ErrorCode

ROWS = (
    ErrorCode(
        "E001",
        USE,
        "I.{name} was used outside a kernel",
        "Names of the language have a meaning only in the source of a kernel or helper, which is read, not run.",
        "move the expression into a function decorated with @intent.kernel or @intent.fn",
        "a use inside a function decorated with @intent.kernel or @intent.fn",
    ),
    ErrorCode(
        "E002",
        USE,
        "the language has no I.{name}",
        "The set of operations is closed, so that every program means the same on every target.",
        "use one of the operations that the language has",
        "a name that intent_np.language defines",
    ),
    ErrorCode(
        "E003",
        USE,
        "the source of '{name}' is not available",
        "A kernel is compiled from its text, with line numbers for its errors.",
        "define it in a file, a notebook cell, or register the text with linecache before exec",
        "a function whose source inspect.getsource finds",
    ),
    ErrorCode(
        "E004",
        USE,
        "'{name}' cannot be called directly",
        "A kernel is a program to compile, not a Python function to run.",
        "compile it first: intent_np.compile({name}), then call the artifact",
    ),
    ErrorCode(
        "E005",
        USE,
        "'{name}' is no kernel",
        "Only a function decorated with @intent.kernel says what its parameters are.",
        "decorate the function with @intent.kernel",
        "a kernel",
    ),
    ErrorCode(
        "E006",
        USE,
        "{what}",
        "What was asked for would be ignored or lost silently.",
        "{how}",
    ),
    ErrorCode(
        "E007",
        USE,
        "'{path}' cannot be loaded: {reason}",
        "Kernels are found by importing the file that they stand in.",
        "name a folder, a file, or a kernel as FILE.py:NAME",
    ),
    ErrorCode(
        "E008",
        USE,
        "'{path}' has no {which}",
        "A kernel is a function decorated with @intent.kernel, or an entry of the list CASES.",
        "name one of the kernels that the file has",
    ),
    ErrorCode(
        "E009",
        USE,
        "'{name}' is a host program: it launches several kernels",
        "A program, its source and its artifact belong to one kernel.",
        "name one of the kernels that it launches",
        "a kernel",
    ),
    ErrorCode(
        "E010",
        USE,
        "'{path}' cannot be read or written: {reason}",
        "What was asked for needs this file or folder.",
        "name another, or give this one the permissions and the room that it needs",
    ),
    ErrorCode(
        "E011",
        USE,
        "the command line is not understood: {reason}",
        "A command does what its options and arguments say, and nothing else. For a person, without --json, its usage "
        "stands above.",
        "see {command} --help",
    ),
)
