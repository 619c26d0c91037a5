"""The error codes, declared once.

A row is `code, class, title, why, fix` and, where one sentence always fits, `expected`.  Texts are templates:
`{name}` is filled from the keyword fields given where the error is raised.  Everything else is derived from
this table: what is raised, how it is rendered, and the index in `specs/errors.md`.  To add an error, add a row.

Numbers: E0 use of the language outside its place, E1 names and constructs, E2 types and shapes, E3 memory and
effects, E4 calls of an artifact, E5 checking mode, E6 lower compilers and devices, E7 text forms and artifacts,
E9 the compiler itself.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """One declared error.  `kind` names the exception class in `intent_np.errors`."""

    code: str
    kind: str
    title: str
    why: str
    fix: str
    expected: str = ""


_USE, _COMPILE, _CALL, _CHECK, _PROVIDER = (
    "LanguageUseError",
    "CompileError",
    "CallError",
    "CheckError",
    "ProviderError",
)

_ROWS: Final = (
    # ---- E0: the language used outside its place
    ErrorCode(
        "E001",
        _USE,
        "I.{name} was used outside a kernel",
        "Names of the language have a meaning only in the source of a kernel or helper, which is read, not run.",
        "move the expression into a function decorated with @intent.kernel or @intent.fn",
        "a use inside a function decorated with @intent.kernel or @intent.fn",
    ),
    ErrorCode(
        "E002",
        _USE,
        "the language has no I.{name}",
        "The set of operations is closed, so that every program means the same on every target.",
        "use one of the operations that the language has",
        "a name that intent_np.language defines",
    ),
    ErrorCode(
        "E003",
        _USE,
        "the source of '{name}' is not available",
        "A kernel is compiled from its text, with line numbers for its errors.",
        "define it in a file, a notebook cell, or register the text with linecache before exec",
        "a function whose source inspect.getsource finds",
    ),
    ErrorCode(
        "E004",
        _USE,
        "'{name}' cannot be called directly",
        "A kernel is a program to compile, not a Python function to run.",
        "compile it first: intent_np.compile({name}), then call the artifact",
    ),
    ErrorCode(
        "E005",
        _USE,
        "'{name}' is no kernel",
        "Only a function decorated with @intent.kernel says what its parameters are.",
        "decorate the function with @intent.kernel",
        "a kernel",
    ),
    ErrorCode(
        "E006",
        _USE,
        "{what}",
        "An option outside its set would be ignored silently, and the program would not be the one asked for.",
        "{how}",
    ),
    ErrorCode(
        "E007",
        _USE,
        "'{path}' cannot be loaded: {reason}",
        "Kernels are found by importing the file that they stand in.",
        "name a folder, a file, or a kernel as FILE.py:NAME",
    ),
    ErrorCode(
        "E008",
        _USE,
        "'{path}' has no kernel '{name}'",
        "A kernel is a function decorated with @intent.kernel, or an entry of the list CASES.",
        "name one of the kernels that the file has",
    ),
    # ---- E1: names and constructs
    ErrorCode(
        "E101",
        _COMPILE,
        "unknown name '{name}'",
        "A kernel sees its parameters, the names assigned above, and immutable Python constants.",
        "define it, pass it as a parameter, or correct the spelling",
        "a name that is defined here",
    ),
    ErrorCode(
        "E102",
        _COMPILE,
        "{construct} is not part of the language",
        "It has no meaning that is the same on every target.",
        "{suggestion}",
    ),
    ErrorCode(
        "E103",
        _COMPILE,
        "parameter '{name}' has no annotation",
        "A kernel is compiled before it is called: the annotation gives the dtype and the shape.",
        'annotate it, for example {name}: I.In[I.f32, ("N",)], I.f32 or I.Constexpr[int]',
        "an annotation on every parameter",
    ),
    ErrorCode(
        "E104",
        _COMPILE,
        "the annotation of '{name}' is not understood",
        "The annotation gives the dtype, the shape and the promises that the call is checked against.",
        "write I.In[dtype, shape], I.Out[dtype, shape], I.InOut[dtype, shape], a dtype, or I.Constexpr[type]",
    ),
    ErrorCode(
        "E105",
        _COMPILE,
        "'{name}' is captured but is no immutable constant",
        "A value that can change after compilation would silently keep its old value in the compiled kernel.",
        "pass it as a parameter, or as I.Constexpr if it should specialise the kernel",
        "an int, float, bool, enum, dtype, format, helper or module",
    ),
    ErrorCode(
        "E106",
        _COMPILE,
        "helper '{name}' calls itself",
        "Helpers are inlined; a recursive one has no end.",
        "write the recursion as an ordered for or while loop",
    ),
    ErrorCode(
        "E107",
        _COMPILE,
        "helper '{name}' does not return on every path",
        "The call has one type, whichever path is taken.",
        "return a value of the same type on the path that falls off the end",
    ),
    ErrorCode(
        "E108",
        _COMPILE,
        "kernel '{name}' returns a value",
        "A kernel is one launch; its results are what it writes to its Out and InOut parameters.",
        "add an I.Out parameter and assign to it",
        "a bare return, or none",
    ),
    ErrorCode(
        "E109",
        _COMPILE,
        "'{name}' is no constexpr of kernel '{kernel}'",
        "A constexpr that the kernel does not have would have no effect.",
        "use the name of a parameter annotated I.Constexpr",
    ),
    ErrorCode(
        "E110",
        _COMPILE,
        "constexpr '{name}' has no value",
        "It specialises the program, so that it is needed before compilation.",
        "pass constexprs={{'{name}': ...}} or give the parameter a default",
    ),
    ErrorCode(
        "E111",
        _COMPILE,
        "constexpr '{name}' has a value of the wrong type",
        "The type of a constexpr decides what the kernel may do with it; a bool is no int.",
        "pass a value of the annotated type",
    ),
    ErrorCode(
        "E112",
        _COMPILE,
        "'{name}' is not defined on every path",
        "A name that only one branch defines has no value when the other one was taken.",
        "define it before the branch, or in both branches",
        "a definition on every path that leads here",
    ),
    ErrorCode(
        "E113",
        _COMPILE,
        "the arguments of {name} do not fit",
        "The call must bind each parameter exactly once.",
        "call it as {signature}",
    ),
    ErrorCode(
        "E114",
        _COMPILE,
        "'{name}' would be carried from point to point of a parallel loop",
        "The points have no order, so that there is no previous one to take the value from.",
        "reduce over the axis with I.reduce, or use an ordered for loop over the domain",
        "a name assigned in the body before it is read there",
    ),
    ErrorCode(
        "E115",
        _COMPILE,
        "{what} has no value: {reason}",
        "Arithmetic on Python numbers happens when the kernel is compiled.",
        "correct the expression",
    ),
    ErrorCode(
        "E116",
        _COMPILE,
        "{count} names for something else",
        "Each name takes one component.",
        "name every component; _ takes what is not needed",
        "{count} components",
    ),
    ErrorCode(
        "E117",
        _COMPILE,
        "{what} has no attribute '{name}'",
        "Values are terms, not arrays: operations are functions of intent_np.language.",
        "use the operations of intent_np.language",
        "shape, dtype or ndim",
    ),
    ErrorCode(
        "E118",
        _COMPILE,
        "elements of {what} cannot be assigned",
        "Values never change once they are computed; only views are memory.",
        "compute a new value, for example with I.select, or assign to an I.Out or I.InOut parameter",
        "a view on the left side",
    ),
    ErrorCode(
        "E119",
        _COMPILE,
        "the assertion does not hold: {text}",
        "The kernel states what it needs of its constants.",
        "pass other constexprs, or correct the assertion",
    ),
    ErrorCode(
        "E120",
        _COMPILE,
        "'{name}' has no value behind the parallel loop",
        "Each point has a value of its own, and none is the last.",
        "write the values to a view, or compute a tensor over the domain",
    ),
    # ---- E2: types and shapes
    ErrorCode(
        "E201",
        _COMPILE,
        "'{operator}' mixes {left} and {right}",
        "There is no implicit promotion: where precision changes is the author's decision.",
        "cast one side: I.cast(value, I.{left}) or I.cast(value, I.{right})",
        "operands of one dtype",
    ),
    ErrorCode(
        "E202",
        _COMPILE,
        "{operation} is not defined for {dtype}",
        "The operation has no meaning on such elements.",
        "cast the operand to a dtype that has it",
    ),
    ErrorCode(
        "E203",
        _COMPILE,
        "the literal {value} does not fit {dtype}",
        "A literal takes the dtype that its use expects, and never wraps or overflows silently.",
        "use a literal in range, or a wider dtype",
        "a value that {dtype} represents",
    ),
    ErrorCode(
        "E204",
        _COMPILE,
        "shapes {left} and {right} do not broadcast",
        "Broadcast is right-aligned: extents are provably equal, or one is a static 1. "
        "Two names are merely not known equal.",
        "give both extents one name, state I.require_equal(a, b), or insert an axis with None",
        "equal extents, or a static 1",
    ),
    ErrorCode(
        "E205",
        _COMPILE,
        "{name} has rank {rank}, but the subscript names {count} axes",
        "Each axis is indexed once; an omitted trailing axis is taken whole.",
        "remove subscripts, or add the axis to the annotation",
    ),
    ErrorCode(
        "E206",
        _COMPILE,
        "axis {axis} is out of range for rank {rank}",
        "An axis counts from 0, or from -1 backwards.",
        "use an axis between {low} and {high}",
    ),
    ErrorCode(
        "E207",
        _COMPILE,
        "'{name}' changes its type",
        "A name carried through a loop or merged after a branch keeps its dtype, its rank and its shape.",
        "cast the value, or use another name",
    ),
    ErrorCode(
        "E208",
        _COMPILE,
        "the shapes of {operation} do not match",
        "The operation pairs these axes element by element.",
        "{suggestion}",
    ),
    ErrorCode(
        "E209",
        _COMPILE,
        "a value of {found_dtype} is stored to '{name}' of {dtype}",
        "Stores never convert: where precision is lost is the author's decision.",
        "store I.cast(value, I.{dtype})",
        "a value of dtype {dtype}",
    ),
    # ---- E3: memory and effects
    ErrorCode(
        "E301",
        _COMPILE,
        "the index of axis {axis} of '{name}' is not provably inside its extent",
        "An access outside the resource has no meaning and may corrupt memory on the device.",
        "guard it with a condition or I.mask/I.gather(valid=...), derive it from a domain of that axis, "
        "or promise it with I.assume_in_bounds(index, view, axis={axis})",
    ),
    ErrorCode(
        "E302",
        _COMPILE,
        "'{name}' is an input and cannot be written",
        "I.In promises the caller that its array is not changed.",
        "annotate the parameter I.Out or I.InOut",
        "a write to an I.Out or I.InOut parameter, or to a buffer",
    ),
    ErrorCode(
        "E303",
        _COMPILE,
        "points of one parallel write the same element of '{name}'",
        "The points are unordered, so that the last writer is not determined.",
        "index the destination with every parallel axis, reduce over the axis, or use an atomic",
    ),
    ErrorCode(
        "E304",
        _COMPILE,
        "the destination index of '{name}' is not provably unique",
        "Two lanes that write one element are a race.",
        "promise it with I.assume_unique(index), or use I.scatter_reduce",
    ),
    ErrorCode(
        "E305",
        _COMPILE,
        "a point of this parallel reads what another point writes",
        "The points are unordered: what is read is not determined.",
        "split the kernel, or move the read to a later statement",
    ),
    ErrorCode(
        "E306",
        _COMPILE,
        "{effect} is not allowed here",
        "A combine, summarize or emit function may run any number of times, on any slice.",
        "move the effect out of the function",
        "a pure expression",
    ),
    ErrorCode(
        "E307",
        _COMPILE,
        "'{name}' is read before it is written",
        "The contents of an I.Out are unspecified until the kernel writes them.",
        "write it first, or annotate it I.InOut if it keeps its contents",
    ),
    ErrorCode(
        "E308",
        _COMPILE,
        "index {index} is outside axis {axis} of '{name}'",
        "The extent is {extent}, so that the access can never be inside.",
        "use an index below {extent}; negative ones count from the end",
    ),
    ErrorCode(
        "E309",
        _COMPILE,
        "the subregion is not provably inside its source",
        "A subregion is never clamped: every member must be one of the source, and the bounds in order.",
        "limit the bounds with I.maximum and I.minimum, guard the loop with if, or cut from another source",
    ),
    # ---- E4: calls of an artifact
    ErrorCode(
        "E401",
        _CALL,
        "'{kernel}' takes {expected_count} arguments, not {found_count}",
        "Arguments match the parameters by position, constexprs left out.",
        "call it as {signature}",
    ),
    ErrorCode(
        "E402",
        _CALL,
        "argument '{parameter}' has the wrong dtype",
        "The kernel reads the memory as the annotated dtype; there is no implicit conversion.",
        "convert the array, or compile a kernel annotated with its dtype",
    ),
    ErrorCode(
        "E403",
        _CALL,
        "argument '{parameter}' has the wrong rank",
        "The annotation fixes the number of axes.",
        "reshape the array, or add the missing axes",
    ),
    ErrorCode(
        "E404",
        _CALL,
        "argument '{parameter}' has the wrong extent on axis {axis}",
        "The kernel was compiled for shapes in which equal names are equal extents.",
        "pass arrays whose shapes agree with the annotations",
    ),
    ErrorCode(
        "E405",
        _CALL,
        "argument '{parameter}' is on another device",
        "One launch runs on one device and reads only its memory.",
        "copy the array to the device of the first array argument",
    ),
    ErrorCode(
        "E406",
        _CALL,
        "argument '{parameter}' is read-only but the kernel writes it",
        "Writing memory that its owner declared read-only would change it behind the owner's back.",
        "pass a writable array, for example a copy",
        "a writable array",
    ),
    ErrorCode(
        "E407",
        _CALL,
        "argument '{parameter}' has the wrong stride on axis {axis}",
        "The annotation promises these strides, and the kernel was compiled with them.",
        "pass an array laid out so, or drop the promise from I.constraints(strides=...)",
    ),
    ErrorCode(
        "E408",
        _CALL,
        "arguments '{parameter}' and '{other}' overlap",
        "They were promised not to alias, and one of them is written.",
        "pass separate arrays, or drop noalias=True",
        "memory that does not overlap",
    ),
    ErrorCode(
        "E409",
        _CALL,
        "argument '{parameter}' is no array",
        "A view parameter takes anything with DLPack, __cuda_array_interface__ or the NumPy array interface.",
        "pass an array",
        "a NumPy, CuPy, torch or JAX array",
    ),
    ErrorCode(
        "E410",
        _CALL,
        "the extent '{name}' is not known",
        "Only an output names it, so that no input says how large the output is.",
        "pass extents={{'{name}': ...}} to run",
    ),
    ErrorCode(
        "E411",
        _CALL,
        "argument '{parameter}' is not a {dtype} value",
        "A scalar parameter is passed by value and must fit its dtype exactly.",
        "convert the value",
    ),
    ErrorCode(
        "E412",
        _CALL,
        "the extents of '{kernel}' break a promise",
        "The kernel was compiled with this relation between its extents.",
        "pass arrays that satisfy it",
    ),
    # ---- E5: checking mode
    ErrorCode(
        "E501",
        _CHECK,
        "'{name}' differs from its oracle",
        "The result is outside the error bound, so that some step of the compilation or the kernel is wrong.",
        "compare the levels with: intent-np opt, or --stop-after, to find the first one that differs",
        "every element inside the bound",
    ),
    ErrorCode(
        "E502",
        _CHECK,
        "an access to '{name}' is outside the resource",
        "The index was promised, or proved from a promise, to be inside.",
        "correct the index or the promise",
    ),
    ErrorCode(
        "E503",
        _CHECK,
        "'{name}' breaks a law that its operation promises",
        "The compiler regroups and reorders by these laws, and the result would depend on the order.",
        "correct the function or the identity",
    ),
    ErrorCode(
        "E504",
        _CHECK,
        "an element of '{name}' is read before anything wrote it",
        "Its value is unspecified.",
        "initialise it, or narrow the access to what was written",
    ),
    ErrorCode(
        "E505",
        _CHECK,
        "accesses to '{name}' are in conflict",
        "Instances of a program run in any order, and the lanes of a store all at once.",
        "let each element be written once, by one instance, and read by no other",
        "elements that no other instance or lane touches",
    ),
    ErrorCode(
        "E506",
        _CHECK,
        "a padded lane of a block reads '{name}'",
        "Lanes past the end of an axis belong to no member, and what they would read means nothing.",
        "guard the load with the membership of its lanes",
    ),
    # ---- E6: lower compilers and devices
    ErrorCode(
        "E601",
        _PROVIDER,
        "{provider} could not compile '{kernel}'",
        "The generated source was refused by the lower compiler; its message is kept below.",
        "report it with the generated source; another target or --disable PASS may avoid it",
    ),
    ErrorCode(
        "E602",
        _PROVIDER,
        "the target '{target}' is not supported",
        "The compiler needs to know what the device can do.",
        "choose one of the known targets",
        "auto, cpu, reference, sm_80, sm_90, sm_100, or an intent_np.Target",
    ),
    ErrorCode(
        "E603",
        _PROVIDER,
        "{package} is not available",
        "{purpose} needs it.",
        "{command}",
    ),
    ErrorCode(
        "E604",
        _PROVIDER,
        "the launch of '{kernel}' failed",
        "The driver refused it, or a previous launch left the device in error.",
        "run intent-np doctor, and check the device with its own tools",
    ),
    ErrorCode(
        "E605",
        _PROVIDER,
        "'{kernel}' needs more shared memory than a block has on {target}",
        "All tiles of a block that are in flight at once share this memory.",
        "choose smaller blocks or fewer stages",
    ),
    # ---- E7: text forms, passes, artifacts
    ErrorCode(
        "E701",
        _COMPILE,
        "the text is not a {language} program",
        "A text form is parsed exactly as it is printed.",
        "correct the text at the marked place",
    ),
    ErrorCode(
        "E702",
        _COMPILE,
        "the {language} program is not well formed",
        "Each pass relies on the rules of its source language and must leave those of its target language.",
        "correct the term, or report the pass that made it",
    ),
    ErrorCode(
        "E703",
        _USE,
        "there is no pass '{name}'",
        "The pipeline is a fixed list.",
        "list the passes with: intent-np passes",
    ),
    ErrorCode(
        "E704",
        _USE,
        "there is no level '{name}'",
        "A program is kept at each level that its pipeline passes through.",
        "use one of the levels",
    ),
    ErrorCode(
        "E705",
        _CALL,
        "'{path}' is no artifact that this version can load",
        "An artifact is a folder of readable files, each checked by its hash.",
        "save it again with this version",
    ),
    # ---- E9: the compiler itself
    ErrorCode(
        "E901",
        _COMPILE,
        "the compiler failed in {where}",
        "This is a defect of the compiler, not of the kernel.",
        "report it with the kernel; --debug shows the traceback",
    ),
)

CODES: Final[dict[str, ErrorCode]] = {row.code: row for row in _ROWS}

REMARKS: Final[dict[str, str]] = {
    "P001": "statements run in one program instance, in order",
    "P002": "NumPy arrays are copied to the device and back",
    "P003": "the generic variant runs",
    "P004": "the permission asked for was not used",
}
