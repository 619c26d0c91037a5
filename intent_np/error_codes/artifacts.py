"""E7: text forms, passes, artifacts"""

from .declare import CALL, COMPILE, USE, ErrorCode

ROWS = (
    ErrorCode(
        "E701",
        COMPILE,
        "the text is not a {language} program",
        "A program is read in the form in which it is printed: definitions first, then the program.",
        "correct the text at the marked place; specs/{language}.md has the grammar, and "
        "intent-np compile FILE --print {language} a program to compare with",
    ),
    ErrorCode(
        "E702",
        COMPILE,
        "the {language} program is not well formed",
        "Each pass relies on the rules of its source language and must leave those of its target language.",
        "correct the term, or report the pass that made it",
    ),
    ErrorCode(
        "E703",
        USE,
        "there is no pass '{name}'",
        "The pipeline is a fixed list.",
        "list the passes with: intent-np passes",
    ),
    ErrorCode(
        "E704",
        USE,
        "there is no level '{name}'",
        "A program is kept at each level that it passes through on its way to its target.",
        "use one of the levels",
    ),
    ErrorCode(
        "E705",
        CALL,
        "'{path}' is no artifact that this version can load",
        "An artifact is a folder of readable files, each checked by its hash.",
        "save it again with this version",
    ),
    ErrorCode(
        "E706",
        USE,
        "the pass '{name}' can't be left out",
        "The passes behind it read what it makes: another language, or a form that they rely on.",
        "disable another pass, or set this one's options; intent-np passes lists them",
    ),
    ErrorCode(
        "E707",
        COMPILE,
        "'{name}' is read where another instance of the program may write it",
        "Instances run in any order, so a statement can't read elements that other points of an earlier one wrote.",
        "write to another output, or split the kernel in two",
        "a read of the very element that the same statement, or an earlier one at the same point, writes",
    ),
    ErrorCode(
        "E708",
        COMPILE,
        "{construct} is executed by the reference alone so far",
        "No pass takes it to the GPU and the program machine yet.",
        "run it with target='reference'",
    ),
    ErrorCode(
        "E713",
        COMPILE,
        "elements of '{name}' are too narrow to be updated in place",
        "A GPU changes 16, 32 or 64 bits in one step; elements of {dtype} share such a word with their neighbours.",
        "use elements of 32 bits, or run it with target='reference'",
    ),
    ErrorCode(
        "E710",
        USE,
        "the pass '{name}' does not lie ahead of the program",
        "The pipeline goes one way, from the first pass of the program's language.",
        "stop after a later pass, or start from a program of an earlier level",
    ),
    ErrorCode(
        "E711",
        COMPILE,
        "the pass '{name}' changes what '{kernel}' computes",
        "Each pass keeps the results. They were compared on generated arguments: {call}.",
        "report it with the kernel; intent-np bisect looks for the pass on arguments of yours",
    ),
)
