"""What is wrong with a kernel, where, and what to do: every error of the language, triggered."""

import math
import textwrap

import pytest

import intent_np as intent
import intent_np.language as I
from intent_np.errors import CompileError, IntentError
from tests.sources import executed

PREAMBLE = """
@intent.fn
def forever(v):
    return again(v)

@intent.fn
def again(v):
    return forever(v) + 1

@intent.fn
def sometimes(v, flag):
    if flag:
        return v

@intent.fn
def stores(a, b, target):
    target[()] = a
    return b

@intent.fn
def two(a, b):
    return a, b

@intent.fn
def searched(w):
    for c in I.domain(0, w.shape[0]):
        if w[c] > 0:
            return w[c]
    return True

@intent.fn
def cut(v):
    for c in I.domain(0, v.shape[0]):
        if v[c] > 0:
            return v[0:c]
    return v

@intent.fn
def speaks(a, b):
    I.debug_print("{}", a)
    return a + b

@intent.fn
def deep(v):
    return v + 1.5

@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N")], h: I.In[I.f16, ("N",)], n: I.In[I.i32, ("N",)], c: I.In[I.bool, ("N",)],
    four: I.In[I.f32, (4, 6)], s: I.f32, i: I.i32, flag: I.bool, p: I.In[I.f32, ("P",)],
    y: I.Out[I.f32, ("M", "N")], z: I.Out[I.f32, ("N",)], u: I.InOut[I.f32, ("N",)], o: I.Out[I.f32, ()],
    K: I.Constexpr[int] = 3,
):
    M, N = x.shape
    rows, columns = I.domain(0, M), I.domain(0, N)
    v, w = x[:, :], u[:]
"""

# code, the marked piece of source, a piece of the message, statements
WRONG = [
    ("E002", "I.softmx", "no I.softmx", "I.softmx(v)"),
    ("E002", "I.reduce.mean", "no I.reduce.mean", "I.reduce.mean(v)"),
    ("E101", "colums", "did you mean 'columns'?", "z[colums] = w"),
    ("E101", "zzz", "unknown name 'zzz'", "zzz(1)"),
    ("E102", "[w for w in v]", "a list comprehension is not part of the language", "w = [w for w in v]"),
    ("E102", "lambda a: a", "helper decorated with @intent.fn", "f = lambda a: a"),
    ("E102", "v @ v", "use I.matmul", "v @ v"),
    ("E102", "M is N", "the operator is is not", "M is N"),
    ("E102", "K in (1, 2)", "compare with each candidate", "K in (1, 2)"),
    ("E102", "try:", "guard with if", "try:\n    pass\nfinally:\n    pass"),
    ("E102", "with s:", "with is not part", "with s:\n    pass"),
    ("E102", "del v", "del is not part", "del v"),
    ("E102", "global q", "pass the value as a parameter", "global q"),
    ("E102", "for r in rows:", "else after a for loop", "for r in rows:\n    pass\nelse:\n    pass"),
    ("E102", "while flag:", "else after a while loop", "while flag:\n    break\nelse:\n    pass"),
    ("E102", "import math", "import at the top", "import math"),
    ("E102", "print", "the builtin print", "print(v)"),
    ("E102", "max(s, 1.0)", "use I.maximum(a, b)", "max(s, 1.0)"),
    ("E102", "float(i)", "use I.cast(value, I.f32)", "float(i)"),
    ("E102", "I.f32(i)", "use I.cast(value, I.f32)", "I.f32(i)"),
    ("E102", "assert s > 0", "assert what is known when compiling", "assert s > 0"),
    ("E102", "f'{s}'", "an f-string", "f'{s}'"),
    ("E301", "v[n[:], 0]", "index n[...], and known: nothing more", "v[n[:], 0]"),
    ("E102", "for q in s:", "a loop over f32", "for q in s:\n    pass"),
    ("E102", "1j", "the literal 1j", "1j"),
    ("E102", "other()", "calling the kernel 'other'", "other()"),
    ("E105", "MUTABLE", "'MUTABLE' is captured but is no immutable constant", "MUTABLE[0]"),
    ("E106", "forever(v)", "forever calls again calls forever", "forever(s)"),
    ("E107", "if flag:", "'sometimes' does not return on every path", "sometimes(s, flag)"),
    ("E108", None, "kernel 'k' returns a value", "return v"),
    ("E112", "both", "'both' is not defined on every path", "if flag:\n    both = 1.0\nz[:] = both"),
    ("E112", "inner", "'inner' is not defined on every path", "for r in rows:\n    inner = 1.0\nz[:] = inner"),
    ("E113", "I.clamp(s)", "call it as I.clamp(value, low, high)", "I.clamp(s)"),
    ("E113", "two(s)", "call it as two(a, b)", "two(s)"),
    ("E113", "I.parallel(3)", "call it as I.parallel(domain)", "for r in I.parallel(3):\n    pass"),
    ("E114", "total", "carried from point to point", "total: I.f32 = 0.0\nfor r in I.parallel(rows):\n    total += s"),
    ("E115", "1 / 0", "1 / 0 has no value: division by zero", "1 / 0"),
    ("E115", "float('x')", "could not convert", "float('x')"),
    ("E116", "M, N, L = x.shape", "3 names for 2 components", "M, N, L = x.shape"),
    ("E116", "a, b = w", "by their index", "a, b = w"),
    ("E116", None, "use enumerate(region)", "for a, b in rows:\n    pass"),
    ("E116", None, "1 name for 2 domains", "for a in I.parallel((rows, columns)):\n    pass"),
    ("E117", "v.sum", "use I.reduce.sum(value, axis=...)", "v.sum(axis=0)"),
    ("E117", "x.shap", "did you mean 'shape'?", "x.shap"),
    ("E118", "v[0, 0]", "elements of f32(M, N) cannot be assigned", "v[0, 0] = 1.0"),
    ("E119", "assert K > 3", "the assertion does not hold: K > 3", "assert K > 3"),
    ("E120", "last", "'last' has no value behind the parallel loop",
     "for r in I.parallel(rows):\n    last = s\nz[:] = last"),
    ("E121", "x + 1", "read its elements: x[:, :]", "x + 1"),
    ("E121", "columns * 2", "I.indices(domain)", "columns * 2"),
    ("E122", "break", "break inside a parallel loop", "for r in I.parallel(rows):\n    if flag:\n        break"),
    ("E122", "return", "return inside a parallel", "for r in I.parallel(rows):\n    for q in rows:\n        return"),
    ("E123", "while True:", "the loop has no end", "while True:\n    s = s * 2"),
    ("E202", "v > 0", "while is not defined for bool(M, N)", "while v > 0:\n    pass"),
    ("E207", "return True", "'the result' changes its type", "searched(w)"),
    ("E207", "return v[0:c]", "whose extent varies with the iteration", "cut(w)"),
    ("E201", "h[:] * w", "cast one side: I.cast(value, I.f16) or I.cast(value, I.f32)", "h[:] * w"),
    ("E201", "rows_of + n[:]", "'+' mixes index and i32", "rows_of = I.indices(columns)\nrows_of + n[:]"),
    ("E202", "n[:] / 2", "use // for the floor quotient", "n[:] / 2"),
    ("E202", "w // 2.0", "use I.floor(a / b)", "w // 2.0"),
    ("E202", "w & 1.0", "& is not defined for f32", "w & 1.0"),
    ("E202", "w and c[:]", "compare first", "w and c[:]"),
    ("E202", "I.exp(n[:])", "I.cast(value, I.f32)", "I.exp(n[:])"),
    ("E202", "s", "if is not defined for f32", "if s:\n    pass"),
    ("E202", "I.exp(h[:], approximate=True)", "approximate I.exp is not defined for f16",
     "I.exp(h[:], approximate=True)"),
    ("E202", "I.bitcast(w, I.f16)", "a dtype of the same width", "I.bitcast(w, I.f16)"),
    ("E202", "I.bitcast(c[:], I.u8)", "which takes a bool as 0 or 1", "I.bitcast(c[:], I.u8)"),
    ("E202", "I.matmul(v, v, acc_dtype=I.f16)", "acc_dtype=I.f32", "I.matmul(v, v, acc_dtype=I.f16)"),
    ("E202", "I.reduce.sum(c[:])", "acc_dtype=I.i32", "I.reduce.sum(c[:])"),
    ("E202", "I.reduce.any(w)", "compare first", "I.reduce.any(w)"),
    ("E203", "n[:] + 1.5", "the literal 1.5 does not fit i32", "n[:] + 1.5"),
    ("E203", "n[:] * 3000000000", "the literal 3000000000 does not fit i32", "n[:] * 3000000000"),
    ("E203", "h[:] + 70000", "does not fit f16", "h[:] + 70000"),
    ("E203", "w + True", "the bool literal True", "w + True"),
    ("E204", "w + p[:]", "shapes (N,) and (P,) do not broadcast", "w + p[:]"),
    ("E204", "y[:, :]", "shapes (M, N) and (P,)", "y[:, :] = p[:]"),
    ("E204", "z[:]", "shapes (N,) and (M, N)", "z[:] = v"),
    ("E205", "x[0, 0, 0]", "x has rank 2, and is subscripted along 3", "x[0, 0, 0]"),
    ("E205", "s[0]", "a scalar has rank 0", "s[0]"),
    ("E206", "I.reduce.sum(v, axis=2)", "use an axis between -2 and 1", "I.reduce.sum(v, axis=2)"),
    ("E207", "w", "'w' changes its type", "for r in rows:\n    w = w[:, None] + w\nz[:] = w"),
    ("E207", "t", "f32(N,) on one path, f32 on the other", "if flag:\n    t = w\nelse:\n    t = s\nz[:] = t"),
    ("E208", "I.matmul(four[:, :], four[:, :], acc_dtype=I.f32)", "transpose an operand",
     "I.matmul(four[:, :], four[:, :], acc_dtype=I.f32)"),
    ("E208", "I.dot(v, v, acc_dtype=I.f32)", "an operand of rank 1", "I.dot(v, v, acc_dtype=I.f32)"),
    ("E208", "I.reshape(v, (M, M))", "as many elements as (M, N) has", "I.reshape(v, (M, M))"),
    ("E208", "I.transpose(v, (0, 0))", "a permutation of 2 axes", "I.transpose(v, (0, 0))"),
    ("E311", "I.domain(0, 5, 0)", "a step above 0", "I.domain(0, 5, 0)"),
    ("E208", "I.reduce(v, 0, identity=0.0, combine=two)", "return one scalar for each component",
     "I.reduce(v, 0, identity=0.0, combine=two)"),
    ("E209", "z[:]", "store I.cast(value, I.f32)", "z[:] = h[:]"),
    ("E301", "x[i, 0]", "0 <= index < M", "x[i, 0]"),
    ("E309", "w[1:]", "no proof of 1 <= N", "w[1:]"),
    ("E301", "x[columns, :]", "index the domain 0..N", "x[columns, :]"),
    ("E301", "u[j + 1]", "index j + 1, and known: 0 <= j < N", "for j in I.parallel(columns):\n    z[j] = u[j + 1]"),
    ("E302", "x[:, :]", "'x' is an input and cannot be written", "x[:, :] = 1.0"),
    ("E303", "z[:]", "an index that does not depend on 'r'", "for r in I.parallel(rows):\n    z[:] = 1.0"),
    ("E304", "z[j // 2]", "several values of 'j' may meet", "for j in I.parallel(columns):\n    z[j // 2] = 1.0"),
    ("E305", "u[N - 1 - j]", "'u' is read and written away from 'j'",
     "for j in I.parallel(columns):\n    u[j] = u[N - 1 - j]"),
    ("E306", None, "a write to 'o' is not allowed here",
     "I.reduce(w, 0, identity=0.0, combine=stores, combine_operands=o)"),
    ("E307", "z[:]", "'z' is read before it is written", "w + z[:]"),
    ("E308", "four[4, 0]", "index 4 is outside axis 0 of 'four'", "four[4, 0]"),
    ("E308", "four[0, -7]", "use an index below 6", "four[0, -7]"),
    ("E309", "columns[0:i]", "no proof of 0 <= i", "columns[0:i]"),
    ("E309", "I.indices(I.domain(i, 3))", "no proof of i <= 3", "I.indices(I.domain(i, 3))"),
    ("E102", "math.sqrt(s)", "use I.sqrt(value)", "math.sqrt(s)"),
    ("E115", "math.sqrt(-1)", "math.sqrt(-1) has no value", "math.sqrt(-1)"),
    ("E309", "I.domain(0, 9, 2)[4:2]", "4 <= 2, which never holds", "I.domain(0, 9, 2)[4:2]"),
    ("E002", "I.sum", "did you mean I.reduce.sum?", "I.sum(v)"),
    ("E002", "I.argmax", "no I.argmax", "I.argmax(v)"),
    ("E124", "I.require_equal(M, i)", "i, which the host does not know", "I.require_equal(M, i)"),
    ("E124", "I.require_equal(M * N, M * M)", "no name can be given", "I.require_equal(M * N, M * M)"),
    ("E113", "I.ragged(rows, columns, h)", "views of integers of rank 1", "I.ragged(rows, columns, h)"),
    ("E113", "I.debug_print(v)", 'I.debug_print("x = {}", x)', "I.debug_print(v)"),
    ("E202", "I.debug_assert(v)", "compare it", "I.debug_assert(v)"),
    ("E306", 'I.debug_print("{}", a)', "I.debug_print is not allowed here",
     "I.reduce(w, 0, identity=0.0, combine=speaks)"),
    ("E309", "columns[3:1]", "3 <= 1, which never holds", "columns[3:1]"),
    ("E309", "w[:100]", "no proof of 100 <= N", "w[:100]"),
    ("E309", "four[0, 1:9]", "9 <= 6, which never holds", "four[0, 1:9]"),
    ("E311", "I.domain(0, N, i)", "if step > 0", "I.domain(0, N, i)"),
    ("E311", "range(0, N, i)", "I.maximum(step, 1)", "for q in range(0, N, i):\n    pass"),
]  # fmt: skip


def kernel(body: str) -> I.Kernel:
    """The kernel `k` with these statements."""
    text = PREAMBLE + textwrap.indent(body, "    ") + "\n"
    return executed(text, space={"intent": intent, "I": I, "MUTABLE": [1], "other": other, "math": math})["k"]


@intent.kernel
def other(x: I.In[I.f32, ()]):
    pass


@pytest.mark.parametrize(("code", "marked", "message", "body"), WRONG, ids=lambda v: v if str(v)[:1] == "E" else "")
def test_errors_say_where_and_what_to_do(code, marked, message, body):
    with pytest.raises(IntentError) as found:
        kernel(body).capture()
    (error, *more) = found.value.errors
    assert not more, str(found.value)
    assert error.code == code, str(error)
    assert message is None or message in str(error), str(error)
    assert "<" not in str(error).replace("<text", "").replace("<=", "").replace("< ", ""), str(error)
    span = error.span
    assert marked is None or span.text[span.column - 1 : span.end_column - 1] == marked, str(error)


SIGNATURES = [
    ("E103", "x", "def f(x): pass"),
    ("E104", 'x: "nothing"', 'def f(x: "nothing"): pass'),
    ("E104", "x: 3", "def f(x: 3): pass"),
    ("E104", "x: I.In[I.f32]", "def f(x: I.In[I.f32]): pass"),
    ("E104", 'x: I.In[I.f32, "N"]', 'def f(x: I.In[I.f32, "N"]): pass'),
    ("E104", 'x: I.In[I.f32, ("N +",)]', 'def f(x: I.In[I.f32, ("N +",)]): pass'),
    ("E104", "x: I.In[I.f32, (-1,)]", "def f(x: I.In[I.f32, (-1,)]): pass"),
    ("E104", 'x: I.In[I.f32, ("N / 2",)]', 'def f(x: I.In[I.f32, ("N / 2",)]): pass'),
    ("E104", 'x: I.In[I.f32, ("N",), 3]', 'def f(x: I.In[I.f32, ("N",), 3]): pass'),
    ("E104", None, 'def f(x: I.In[I.f32, ("N",), I.constraints(strides=(1, 2))]): pass'),
    ("E104", None, 'def f(x: I.In[I.f32, ("N",), I.constraints(alias="a", noalias=True)]): pass'),
    *(
        ("E104", None, f'def f(x: I.In[I.i32, ("N",), I.constraints({promise})]): pass')
        for promise in ("strides='S'", "strides=(1.5,)", "strides=('a b',)", "alias=3", "noalias='yes'", "finite=True")
    ),
    ("E104", None, 'def f(x: I.In[I.f32, ("N // 0",)]): pass'),
    ("E104", "x: I.f32", "def f(x: I.f32 = 1.0): pass"),
    ("E104", "x: I.Constexpr[str]", "def f(x: I.Constexpr[str]): pass"),
    ("E102", "x", "def f(*x: I.f32): pass"),
]


@pytest.mark.parametrize(("code", "marked", "text"), SIGNATURES)
def test_signatures_are_judged_when_asked_for(code, marked, text):
    f = executed(f"@intent.kernel\n{text}\n")["f"]
    with pytest.raises(CompileError) as found:
        f.parameters
    error = found.value
    assert error.code == code
    assert marked is None or error.span.text[error.span.column - 1 : error.span.end_column - 1].startswith(marked)


def test_errors_are_collected_and_do_not_cascade():
    body = "a = w + colums\nb = a * 2\nz[:] = b\nq = h[:] + w\n"
    body += "for r in I.parallel(rows):\n    y[r, :] = a + b\n    z[:] = s"
    with pytest.raises(CompileError) as found:
        kernel(body).capture()
    assert [e.code for e in found.value.errors] == ["E101", "E201", "E303"]
    assert str(found.value).endswith("3 errors")


def test_an_error_inside_a_helper_names_the_call():
    with pytest.raises(CompileError) as found:
        kernel("deep(n[:])").capture()
    assert found.value.code == "E203"
    assert found.value.span.text == "    return v + 1.5"
    ((word, place),) = found.value.related
    assert (word, place.text.strip()) == ("called from", "deep(n[:])")


def test_the_whole_of_one_error():
    with pytest.raises(CompileError) as found:
        kernel("z[:] = w + h[:]").capture()
    lines = str(found.value).splitlines()
    assert lines[0].endswith(": E201 '+' mixes f32 and f16")
    assert [line.strip() for line in lines[1:]] == [
        f"{found.value.span.line} |     z[:] = w + h[:]",
        "|            ^^^^^^^^",
        "expected: operands of one dtype",
        "found:    f32(N,), f16(N,)",
        "why:      Nothing is promoted or converted silently: where precision changes is the author's decision.",
        "fix:      cast one side: I.cast(value, I.f32) or I.cast(value, I.f16)",
    ]
