"""The kernel of the term system: declare a term once, everything else is derived.

A term is frozen, slotted and hash-consed in an arena: equal terms are one object, `==` is `is`, and work is linear in
the shared graph.  A declaration is a class with annotated fields, a docstring, and a `syntax`:

    @term
    class Load(Value):
        '''An element of `view`; lanes where `valid` is false touch nothing and give `fill`.'''
        view: View
        index: tuple[Value, ...]
        valid: Value
        fill: Literal
        syntax = "load {view}[{index}]{ valid (|valid|)}{ fill |fill}"

From it come the constructor, traversal, rewriting, printer and parser (`text.py`), the language check
(`language.py`), the strategies (`intent_np.testing.strategies`) and the grammar pages in `specs/`.

Five facts are computed at construction, never stored by hand: `parts` (its direct subterms), `type` (an element type,
or a tuple of them), `lanes` (the axes along which the value still varies), `needs` (the slices whose loop must be open
to compute it) and `kinds` (which classes of terms are in it, a bit each).  Spans and names live in the arena.
"""

from __future__ import annotations

import struct
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any, ClassVar, TypeVar, dataclass_transform

from .arena import Arena, arena, once  # noqa: F401
from .dtypes import DType
from .operators import Op

NO_AXES: frozenset[Any] = frozenset()

if typing.TYPE_CHECKING:
    Literal: typing.TypeAlias = bool | int | float
else:

    class Literal:
        """Annotation of a field that holds a Python bool, int or float; its bits take part in identity."""


def literal_key(v: bool | int | float) -> tuple[str, object]:
    """A key under which 0.0, -0.0, 0 and False differ and NaNs are equal by bits."""
    return (type(v).__name__, struct.pack("<d", v) if type(v) is float else v)


class Term:
    """Base of every term.  Do not instantiate: use the declared classes."""

    __slots__ = ("digest", "kinds", "lanes", "needs", "parts", "type")
    digest: int
    kinds: int
    lanes: frozenset[Any]
    needs: frozenset[Any]
    parts: tuple[Any, ...]
    type: Any

    fields: ClassVar[tuple[Field, ...]] = ()
    syntax: ClassVar[str] = ""
    binds: ClassVar[bool] = False  # printed as a definition of its own, used by name
    defines: ClassVar[tuple[str, ...]] = ()  # fields whose variables are defined here

    def children(self) -> tuple[Any, ...]:
        """The direct subterms, in field order."""
        return self.parts

    def infer(self) -> Any:
        """The element type; raises `TypeError` when the operands do not fit."""
        return None

    def axes(self) -> tuple[frozenset[Any], frozenset[Any]]:
        """Lanes and needs: by default the unions over the children."""
        lanes, needs = NO_AXES, NO_AXES
        for c in self.parts:
            lanes = c.lanes if not lanes else lanes if c.lanes <= lanes else lanes | c.lanes
            needs = c.needs if not needs else needs if c.needs <= needs else needs | c.needs
        return lanes, needs

    def __repr__(self) -> str:
        from .text import show

        return show(self)

    def __str__(self) -> str:
        from .text import brief

        return brief(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"terms are immutable; {type(self).__name__}.{name} can't be set")

    def __copy__(self) -> Term:
        return self

    def __deepcopy__(self, _: object) -> Term:
        return self


class Field:
    """One declared field: its name, how it is held (`term`, `terms`, `maybe`, `attribute`) and its sort."""

    __slots__ = ("default", "kind", "name", "required", "sort")

    def __init__(self, name: str, annotation: Any, default: Any, required: bool) -> None:
        self.name, self.default, self.required = name, default, required
        origin, args = typing.get_origin(annotation), typing.get_args(annotation)
        self.kind, self.sort = "attribute", annotation
        if isinstance(annotation, type) and issubclass(annotation, Term):
            self.kind = "term"
        elif origin is tuple and isinstance(args[0], type) and issubclass(args[0], Term):
            self.kind, self.sort = "terms", args[0]
        elif origin is types.UnionType and isinstance(args[0], type) and issubclass(args[0], Term):
            self.kind, self.sort = "maybe", args[0]


T = TypeVar("T", bound=type)
CLASSES: dict[str, type[Term]] = {}


def _atom_digest(v: object) -> int:
    """A number for an attribute, the same in every process.

    Canonical orders sort by digests, so small integers, the commonest difference between two terms, never collide
    (their own hashes do, modulo 2^61 - 1).
    """
    if isinstance(v, tuple):
        return hash(tuple(_atom_digest(x) for x in v))
    if isinstance(v, Term):
        return v.digest
    if type(v) is int and 0 <= v < 2**60:
        return v
    return _text_digest(struct.pack("<d", v)) if type(v) is float else _repr_digest(v)


@lru_cache(maxsize=4096, typed=True)
def _repr_digest(v: object) -> int:
    return _text_digest(repr(v).encode(errors="surrogatepass"))


def _text_digest(text: bytes) -> int:
    return int.from_bytes(blake2b(text, digest_size=7).digest(), "little")


_BITS: dict[type, int] = {}


def kinds_of(*classes: type) -> int:
    """The bits of classes, those of which any stands in the `kinds` of a term that has one of them in it."""
    bits = 0
    for cls in classes:
        bits |= _BITS.get(cls) or _BITS.setdefault(cls, 1 << len(_BITS))
    return bits


@dataclass_transform(frozen_default=True, eq_default=False)
def term(cls: T) -> T:
    """Class decorator: turn an annotated class into an interned term with a generated constructor."""
    names = {**vars(sys.modules[cls.__module__]), cls.__name__: cls}
    hints = {k: v for k, v in cls.__dict__.get("__annotations__", {}).items() if not str(v).startswith("ClassVar")}
    hints = {k: eval(v, names) if isinstance(v, str) else v for k, v in hints.items()}
    defaults = {k: cls.__dict__[k] for k in hints if k in cls.__dict__}
    body = {
        k: v
        for k, v in cls.__dict__.items()
        if k not in hints and k not in ("__dict__", "__weakref__", "__annotations__")
    }
    fields = tuple(Field(n, a, defaults.get(n), n not in defaults) for n, a in hints.items())
    body |= {"__slots__": tuple(hints), "fields": fields, "__match_args__": tuple(hints)}
    new = typing.cast(T, type(cls.__name__, cls.__bases__, body))
    new.__new__ = staticmethod(_constructor(new, fields))  # type: ignore[method-assign]
    new.rebuild = _rebuild(new, fields)  # type: ignore[attr-defined]
    CLASSES[cls.__name__] = new
    return new


def _generate(source: str, name: str, namespace: dict[str, Any]) -> Any:
    exec(source, namespace)
    return namespace[name]


def _constructor(cls: Any, fields: tuple[Field, ...]) -> Any:
    """`make(cls, fields...)`: look the key up in the arena in force, else build, derive the facts, and intern."""
    params = ", ".join(f.name if f.required else f"{f.name}=default_{f.name}" for f in fields)
    keys = ", ".join(f"literal_key({f.name})" if f.sort is Literal else f.name for f in fields)
    digests = ", ".join(_DIGESTS[f.kind].format(f.name) for f in fields)
    source = f"def make(_cls{', ' if params else ''}{params}):\n"
    source += f"    key = (cls, {keys})\n    table = current().table\n"
    source += "    found = table.get(key)\n    if found is not None: return found\n    self = new(cls)\n"
    source += "".join(f"    set_{f.name}(self, {f.name})\n" for f in fields)
    parts = "".join(f"{_PARTS[f.kind].format(f.name)}, " for f in fields if f.kind in _PARTS)
    source += f"    try:\n        set_digest(self, hash((_name, {digests})))\n        set_parts(self, ({parts}))\n"
    source += "        derive(self, _kinds)\n"
    source += "    except misfits as e: raise misfit(self, e) from e\n    return table.setdefault(key, self)\n"
    space: dict[str, Any] = {
        "cls": cls,
        "new": object.__new__,
        "current": arena,
        "_name": _atom_digest(cls.__name__),
        "_atom": _atom_digest,
        "_absent": _atom_digest(None),
        "set_digest": vars(Term)["digest"].__set__,
        "set_parts": vars(Term)["parts"].__set__,
        "derive": _derive if cls.axes is Term.axes else _derive_by_axes,
        "_kinds": kinds_of(*cls.__mro__),
        "misfits": (AttributeError, LookupError, RuntimeError, ValueError),
        "misfit": _misfit,
        "literal_key": literal_key,
    }
    space |= {f"set_{f.name}": getattr(cls, f.name).__set__ for f in fields}
    space |= {f"default_{f.name}": f.default for f in fields}
    return _generate(source, "make", space)


_DIGESTS = {
    "term": "{0}.digest",
    "terms": "hash(tuple([x.digest for x in {0}]))",
    "maybe": "_absent if {0} is None else {0}.digest",
    "attribute": "_atom({0})",
}

_PARTS = {"term": "{0}", "terms": "*{0}", "maybe": "*(() if {0} is None else ({0},))"}

_set_type = vars(Term)["type"].__set__
_set_lanes = vars(Term)["lanes"].__set__
_set_needs = vars(Term)["needs"].__set__
_set_kinds = vars(Term)["kinds"].__set__


def _derive(t: Any, kinds: int) -> None:
    """The facts of a term whose lanes and needs are those of its children."""
    _set_type(t, t.infer())
    lanes, needs = NO_AXES, NO_AXES
    for c in t.parts:
        kinds |= c.kinds
        if c.lanes:
            lanes = c.lanes if not lanes else lanes if c.lanes <= lanes else lanes | c.lanes
        if c.needs:
            needs = c.needs if not needs else needs if c.needs <= needs else needs | c.needs
    _set_kinds(t, kinds)
    _set_lanes(t, lanes)
    _set_needs(t, needs)


def _derive_by_axes(t: Any, kinds: int) -> None:
    """The facts of a term whose class says what its lanes and needs are."""
    _set_type(t, t.infer())
    lanes, needs = t.axes()
    for c in t.parts:
        kinds |= c.kinds
    _set_kinds(t, kinds)
    _set_lanes(t, lanes)
    _set_needs(t, needs)


def _misfit(t: Any, e: Exception) -> TypeError:
    """Operands so wrong that a check could not even look at them."""
    return TypeError(f"{type(t).__name__} of the wrong kind of operands: {e}")


def _rebuild(cls: Any, fields: tuple[Field, ...]) -> Any:
    """`rebuild(t, done)`: the same term over `done[child]`; the same object when nothing changed."""
    if not any(f.kind != "attribute" for f in fields):
        return _generate("def rebuild(t, done): return t", "rebuild", {})
    lines, same = [], []
    for f in fields:
        n = f.name
        if f.kind == "term":
            lines.append(f"    {n} = done[t.{n}]")
        elif f.kind == "terms":
            lines.append(f"    {n} = tuple([done[x] for x in t.{n}])")
        elif f.kind == "maybe":
            lines.append(f"    {n} = None if t.{n} is None else done[t.{n}]")
        if f.kind != "attribute":
            same.append(f"{n} == t.{n}" if f.kind == "terms" else f"{n} is t.{n}")
    args = ", ".join(f.name if f.kind != "attribute" else f"t.{f.name}" for f in fields)
    source = (
        "def rebuild(t, done):\n"
        + "\n".join(lines)
        + f"\n    if {' and '.join(same)}: return t\n    return cls({args})\n"
    )
    return _generate(source, "rebuild", {"cls": cls})


def replace(t: Any, **changes: Any) -> Any:
    """The same term with some fields changed."""
    return type(t)(*(changes.get(f.name, getattr(t, f.name)) for f in t.fields))


children: Callable[[Any], tuple[Term, ...]] = attrgetter("parts")
"""The term's direct subterms, in field order."""

LONG = 48
"""Terms of a walk that is worth keeping for the next question about the same roots, and how many are kept."""


def walk(*roots: Term, below: Callable[[Any], Sequence[Any]] = children, keep: bool = False) -> list[Term]:
    """Every subterm once, children before parents, in a deterministic order; `below` may leave some of them out.  With
    `keep`, that is a function which always leaves out the same."""
    keep |= below is children
    key = (below, *roots)
    if keep and (kept := arena().orders.get(key)) is not None:
        return kept.copy()
    seen: set[Term] = set()
    order: list[Term] = []
    visit, emit = seen.add, order.append
    open_: list[tuple[Any, Iterator[Any]]] = [(None, iter(roots))]  # each term in hand, and what is left below it
    while open_:
        t, rest = open_[-1]
        for part in rest:
            if part not in seen:
                visit(part)
                if parts := below(part):
                    open_.append((part, iter(parts)))
                    break
                emit(part)
        else:
            open_.pop()
            emit(t)
    order.pop()
    if keep and len(order) > LONG:
        orders = arena().orders
        if len(orders) >= LONG:
            orders.clear()
        orders[key] = order.copy()
    return order


def rewrite(roots: Iterable[Any], step: Callable[[Any], Any], of: Any = ()) -> tuple[Any, ...]:
    """Bottom-up rewriting: `step` sees each term once, over rewritten children, and returns a term.  With `of`, a class
    or several, it sees those of them and what is over rewritten children, and the rest is left out.

    Names and spans follow: a rewritten term inherits those of what it replaces, unless it has its own.
    """
    roots, of = tuple(roots), of or Term
    done: dict[Term, Term] = {}
    space, bits = arena(), kinds_of(*of) if isinstance(of, tuple) else kinds_of(of)
    for t in walk(*roots, below=children if of is Term else lambda t: t.parts if t.kinds & bits else ()):
        new = t.rebuild(done) if t.kinds & bits else t  # type: ignore[attr-defined]
        done[t] = new = step(new) if new is not t or isinstance(t, of) else t
        if new is not t:
            inherit(t, new, space)
    return tuple(done[r] for r in roots)


def inherit(old: Any, new: Any, space: Arena | None = None) -> Any:
    """Pass the name and the spans of `old` on to `new`, which keeps its own name if it has one."""
    space = space or arena()
    if old in space.names and new not in space.names and children(new):
        space.names[new] = space.names[old]
    theirs, mine = space.spans.get(old), space.spans.get(new)
    if theirs is not None and theirs is not mine:
        space.spans[new] = tuple(dict.fromkeys((*mine, *theirs))) if mine else theirs
    return new


def named(t: Any, name: str) -> Any:
    """Give `t` a name for text and generated source; identity is unaffected and the first name stays."""
    arena().names.setdefault(t, name)
    return t


def contains(root: Term, *classes: type) -> bool:
    """Whether a term of one of these classes is below (or is) `root`."""
    return bool(root.kinds & kinds_of(*classes))


def holding(root: Term | Iterable[Term], cls: Any) -> list[Any]:
    """The subterms that have a term of class `cls` (or of one of several) in them, each once, children first."""
    bits = kinds_of(*cls) if isinstance(cls, tuple) else kinds_of(cls)
    seen: set[Term] = set()
    found: list[Term] = []
    open_: list[tuple[Any, Iterator[Any]]] = [(None, iter((root,) if isinstance(root, Term) else root))]
    while open_:
        t, rest = open_[-1]
        for part in rest:
            if part.kinds & bits and part not in seen:
                seen.add(part)
                open_.append((part, iter(part.parts)))
                break
        else:
            open_.pop()
            found.append(t)
    return found[:-1]  # the roots are below nothing


def find(root: Term | Iterable[Term], cls: Any) -> Iterator[Any]:
    """The subterms of class `cls` (or of one of several), each once, children first."""
    return iter([t for t in holding(root, cls) if isinstance(t, cls)])


class Finding:
    """`find` below many roots that share what is in them: what a root has in it, and each of its parts, is known from
    then on, so that statements made of what earlier ones computed are not walked to the ground.  `below` is as in
    `walk`; of the subterms only those are found that are `wanted`.
    """

    def __init__(
        self,
        *classes: Any,
        below: Callable[[Any], Sequence[Any]] = children,
        wanted: Callable[[Any], bool] = lambda t: True,
    ) -> None:
        self.classes, self.bits, self.below, self.wanted = classes, kinds_of(*classes), below, wanted
        self.known: dict[Term, tuple[Any, ...]] = {}

    def __call__(self, *roots: Any) -> list[Any]:
        """The subterms of the classes, each once, children first."""
        known, found = self.known, dict[Any, None]()
        for root in roots:
            for t in (*self.below(root), root):
                if t not in known:
                    known[t] = tuple(self._found(t))
            found.update(dict.fromkeys(known[root]))
        return list(found)

    def _found(self, root: Term) -> dict[Any, None]:
        known, found = self.known, dict[Any, None]()
        for t in walk(root, below=lambda t: self.below(t) if t.kinds & self.bits and t not in known else ()):
            if t in known:
                found.update(dict.fromkeys(known[t]))
            elif isinstance(t, self.classes) and self.wanted(t):
                found[t] = None
        return found


def attribute_name(v: object) -> str:
    """How an attribute that is no number is spelled in text."""
    return v.name if isinstance(v, (DType, Op)) else str(v)
