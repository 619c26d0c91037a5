"""E8: rules"""

from .declare import COMPILE, USE, ErrorCode

ROWS = (
    ErrorCode(
        "E801",
        USE,
        "there is no rule '{name}'",
        "A rule is known by its name in one of the tables in force.",
        "list the rules with: intent-np rules list",
    ),
    ErrorCode(
        "E802",
        USE,
        "the rule '{name}' is declared twice",
        "Traces, verdicts and the command line know a rule by its name.",
        "give one of them another name",
    ),
    ErrorCode(
        "E803",
        USE,
        "'{path}' gives no table of rules",
        "A file of rules is a Python module that declares RULES, a tuple of rule(...), and says in its docstring what "
        "they are about.",
        "see specs/extending.md; {how}",
    ),
    ErrorCode(
        "E804",
        COMPILE,
        "the rule '{name}' is wrong",
        "A rule from outside is proved, or tried on values that find mistakes, before it rewrites a program.",
        "correct it, or leave it out; intent-np rules check shows the counterexample as a program",
    ),
    ErrorCode(
        "E805",
        USE,
        "checking rules needs {package}, which is not installed",
        "Rules are proved by z3 before they rewrite a program.",
        "pip install {package}",
    ),
    ErrorCode(
        "E806",
        USE,
        "'{path}' gives no passes",
        "A file of passes is a Python module that declares PASSES, a tuple of functions declared with @nanopass.",
        "see specs/extending.md; {how}",
    ),
    ErrorCode(
        "E807",
        USE,
        "the pass '{name}' has no place in the pipeline",
        "A pass from outside stays in the language that the pass in front of it gives, and has a name of its own.",
        "declare it with @nanopass(LANGUAGE, LANGUAGE, after=PASS); intent-np passes lists both",
        "a pass behind one that gives its language",
    ),
)
