"""The table of definitions: signatures, promises, constants, helpers and calls of kernels, and what becomes of them."""
# ruff: noqa: E501  (a table: one definition a line)

# what kernels are called with, by name: x = [3 1 4 1 5], k = [2 0 1 3 2], m = [[0 1 2 3 4] [5 6 7 8 9]],
# w = [0 1 2 …] with two elements a step, s = 2.0, n = 2
X = [3, 1, 4, 1, 5]
TWICE = [6, 2, 8, 2, 10]
IN = 'x: I.In[I.f32, ("N",)]'
OUT = 'out: I.Out[I.f32, ("N",)]'
ENUM = "class Mode(I.Enum):\n    PLAIN = 0\n    TWICE = 1\n"
ROUNDED = "@intent.fn\ndef scaled(v, factor=2.0, *, shift=0.0):\n    return v * factor + shift\n"

# title, what stands around the kernel, signature, body, constexprs, and the elements of `out` or an error
DEFINITIONS: list[tuple[str, str, str, str, dict[str, object], object]] = [
    # ---- parameters
    ("a view that is read and one that is written", "", f"{IN}, {OUT}", "out[:] = x[:] * 2", {}, TWICE),
    ("a view that keeps its contents", "", 'x: I.InOut[I.f32, ("N",)], out: I.Out[I.f32, ("N",)]', "x[:] = x[:] * 2\nout[:] = x[:]", {}, TWICE),
    ("a scalar, by value", "", f"{IN}, s: I.f32, {OUT}", "out[:] = x[:] * s", {}, TWICE),
    ("an index", "", f"{IN}, n: I.index, {OUT}", "out[:] = x[:] * I.cast(n, I.f32)", {}, TWICE),
    ("a static extent", "", 'x: I.In[I.f32, (5,)], out: I.Out[I.f32, (1,)]', "out[0] = x[4]", {}, [5]),
    ("a static extent that the array has not", "", 'x: I.In[I.f32, (4,)], out: I.Out[I.f32, (1,)]', "out[0] = x[3]", {}, "E404"),
    ("one name, one extent", "", 'm: I.In[I.f32, ("M", "N")], x: I.In[I.f32, ("N",)], out: I.Out[I.f32, ("M", "N")]', "out[:, :] = m[:, :] * 0 + x[:]", {}, [X, X]),
    ("an extent of arithmetic", "", f'{IN}, out: I.Out[I.f32, ("2 * N",)]', "out[:] = I.concat((x[:], x[:]))", {}, X + X),
    ("cdiv, min and max", "", f'{IN}, out: I.Out[I.index, ("cdiv(N, 2)", "min(N, 2)", "max(N, 6) - 5")]', "out[:, :, :] = out.shape[0]", {}, [[[3]] * 2] * 3),
    ("a parameter without an annotation", "", f"{IN}, y, {OUT}", "out[:] = x[:]", {}, "E103"),
    ("an annotation that is none", "", f"{IN}, y: 3, {OUT}", "out[:] = x[:]", {}, "E104"),
    ("a shape that is none", "", 'x: I.In[I.f32, "N + "], out: I.Out[I.f32, ("N",)]', "out[:] = x[:]", {}, "E104"),
    ("an extent under the name of a scalar", "", 'x: I.In[I.f32, ("n",)], n: I.index, out: I.Out[I.f32, ("n",)]', "out[:] = x[:]", {}, "E104"),
    ("any number of parameters", "", f"{IN}, {OUT}, *more", "out[:] = x[:]", {}, "E102"),
    # ---- promises
    ("a stride that is known", "", f'x: I.In[I.f32, ("N",), I.constraints(strides=(1,))], {OUT}', "out[:] = x[:] * 2", {}, TWICE),
    ("a stride that the array has not", "", f'w: I.In[I.f32, ("N",), I.constraints(strides=(1,))], {OUT}', "out[:] = w[:]", {}, "E407"),
    ("a stride by name", "", f'w: I.In[I.f32, ("N",), I.constraints(strides=("S",))], {OUT}', "out[:] = w[:]", {}, [0, 2, 4, 6, 8]),
    ("one name, one stride", "", f'w: I.In[I.f32, ("N",), I.constraints(strides=("S",))], x: I.In[I.f32, ("N",), I.constraints(strides=("S",))], {OUT}', "out[:] = w[:] + x[:]", {}, "E407"),
    ("a stride of a constexpr", "", f'w: I.In[I.f32, ("N",), I.constraints(strides=("S",))], {OUT}, S: I.Constexpr[int]', "out[:] = w[:]", {"S": 2}, [0, 2, 4, 6, 8]),
    ("a stride that is not known", "", f'w: I.In[I.f32, ("N",), I.constraints(strides=(None,))], {OUT}', "out[:] = w[:]", {}, [0, 2, 4, 6, 8]),
    ("strides of too few axes", "", 'm: I.In[I.f32, ("M", "N"), I.constraints(strides=(1,))], out: I.Out[I.f32, ("N",)]', "out[:] = 0.0", {}, "E104"),
    ("two outputs of one group", "", 'x: I.In[I.f32, ("N",)], y: I.InOut[I.f32, ("N",), I.constraints(alias="a")], out: I.Out[I.f32, ("N",), I.constraints(alias="a")]',
     "y[:] = x[:]\nout[:] = x[:] * 2", {}, TWICE),
    ("a view that shares no memory", "", f'x: I.In[I.f32, ("N",), I.constraints(noalias=True)], {OUT}', "out[:] = x[:] * 2", {}, TWICE),
    ("alias and noalias", "", f'x: I.InOut[I.f32, ("N",), I.constraints(alias="a", noalias=True)], {OUT}', "out[:] = x[:]", {}, "E104"),
    ("finite elements", "", f'x: I.In[I.f32, ("N",), I.constraints(finite=True)], {OUT}', "out[:] = x[:] * 2", {}, TWICE),
    ("an unknown promise", "", f'x: I.In[I.f32, ("N",), I.constraints(aligned=16)], {OUT}', "out[:] = x[:]", {}, "E125"),
    # ---- constants of the program
    ("a constexpr", "", f"{IN}, {OUT}, K: I.Constexpr[int]", "out[:] = x[:] * K", {"K": 2}, TWICE),
    ("its default", "", f"{IN}, {OUT}, K: I.Constexpr[int] = 2", "out[:] = x[:] * K", {}, TWICE),
    ("one without a default", "", f"{IN}, {OUT}, K: I.Constexpr[int]", "out[:] = x[:] * K", {}, "E110"),
    ("one that is none", "", f"{IN}, {OUT}, K: I.Constexpr[int] = 1", "out[:] = x[:] * K", {"J": 2}, "E109"),
    ("a float constexpr takes an int", "", f"{IN}, {OUT}, K: I.Constexpr[float]", "out[:] = x[:] * K", {"K": 2}, TWICE),
    ("an int constexpr takes no float", "", f"{IN}, {OUT}, K: I.Constexpr[int]", "out[:] = x[:] * K", {"K": 2.0}, "E111"),
    ("a bool is no int", "", f"{IN}, {OUT}, K: I.Constexpr[int]", "out[:] = x[:] * K", {"K": True}, "E111"),
    ("a bool constexpr picks what is read", "", f"{IN}, {OUT}, B: I.Constexpr[bool]", "if B:\n    out[:] = x[:] * 2\nelse:\n    out[:] = undefined", {"B": True}, TWICE),
    ("a constexpr as an extent", "", f'{IN}, out: I.Out[I.f32, ("N", "K")], K: I.Constexpr[int]', "out[:, :] = x[:][:, None] * I.full((1, K), 1.0, I.f32)", {"K": 2}, [[v] * 2 for v in X]),
    ("an enum", ENUM, f"{IN}, {OUT}, mode: I.Constexpr[Mode] = Mode.TWICE", "out[:] = x[:] * (2 if mode == Mode.TWICE else 1)", {}, TWICE),
    ("the value of an enum", ENUM, f"{IN}, {OUT}, mode: I.Constexpr[Mode] = Mode.TWICE", "out[:] = x[:] * (1 + mode.value)", {}, TWICE),
    ("an enum that is no Mode", ENUM, f"{IN}, {OUT}, mode: I.Constexpr[Mode]", "out[:] = x[:]", {"mode": 1}, "E111"),
    ("an enum without such a member", ENUM, f"{IN}, {OUT}", "out[:] = x[:] * (2 if Mode.THRICE == Mode.TWICE else 1)", {}, "E117"),
    ("a tuple from around", "FACTORS = (1.0, 2.0)\n", f"{IN}, {OUT}", "out[:] = x[:] * FACTORS[1]", {}, TWICE),
    ("a list from around", "FACTORS = [1.0, 2.0]\n", f"{IN}, {OUT}", "out[:] = x[:] * FACTORS[1]", {}, "E105"),
    ("an assertion on a constexpr", "", f'{IN}, {OUT}, K: I.Constexpr[int] = 2', 'assert K > 0, "above 0"\nout[:] = x[:] * K', {}, TWICE),
    ("an assertion that does not hold", "", f'{IN}, {OUT}, K: I.Constexpr[int] = 2', 'assert K > 0, "above 0"\nout[:] = x[:] * K', {"K": 0}, "E119"),
    # ---- helpers
    ("a helper", ROUNDED, f"{IN}, {OUT}", "out[:] = scaled(x[:])", {}, TWICE),
    ("arguments by name, and their defaults", ROUNDED, f"{IN}, {OUT}", "out[:] = scaled(shift=1.0, v=x[:]) - 1", {}, TWICE),
    ("an argument by its name alone", ROUNDED, f"{IN}, {OUT}", "out[:] = scaled(x[:], 2.0, 1.0)", {}, "E113"),
    ("an argument that no parameter takes", ROUNDED, f"{IN}, {OUT}", "out[:] = scaled(x[:], faktor=3.0)", {}, "E113"),
    ("the rest of the arguments", "@intent.fn\ndef total(first, *rest):\n    for v in rest:\n        first = first + v\n    return first\n", f"{IN}, {OUT}",
     "out[:] = total(x[:], x[:] * 0, x[:])", {}, TWICE),
    ("a default that can change", "@intent.fn\ndef f(v, more=[]):\n    return v\n", f"{IN}, {OUT}", "out[:] = f(x[:])", {}, "E105"),
    ("a default of None", "@intent.fn\ndef f(v, w=None):\n    if w is None:\n        return v\n    return v * w\n", f"{IN}, {OUT}", "out[:] = f(f(x[:]), 2.0)", {}, TWICE),
    ("several returns", "@intent.fn\ndef f(v, much):\n    if much:\n        return v * 2\n    return v\n", f"{IN}, s: I.f32, {OUT}", "out[:] = f(x[:], s > 1.0)", {}, TWICE),
    ("a way without a return", "@intent.fn\ndef f(v, much):\n    if much:\n        return v * 2\n", f"{IN}, s: I.f32, {OUT}", "out[:] = f(x[:], s > 1.0)", {}, "E107"),
    ("several values", "@intent.fn\ndef f(v):\n    return v * 2, I.reduce.sum(v)\n", f"{IN}, {OUT}", "a, t = f(x[:])\nout[:] = a + t * 0", {}, TWICE),
    ("a record in and out", "@intent.fn\ndef f(p):\n    return I.record(a=p.b, b=p.a * 2)\n", f"{IN}, {OUT}", "out[:] = f(I.record(a=x[:], b=0.0)).b", {}, TWICE),
    ("a helper of helpers", ROUNDED + "@intent.fn\ndef f(v):\n    return scaled(scaled(v), 1.0)\n", f"{IN}, {OUT}", "out[:] = f(x[:])", {}, TWICE),
    ("a helper that is handed on", ROUNDED + "@intent.fn\ndef f(g, v):\n    return g(v)\n", f"{IN}, {OUT}", "out[:] = f(scaled, x[:])", {}, TWICE),
    ("a helper that writes", "@intent.fn\ndef put(view, i, v):\n    view[i] = v\n", f"{IN}, {OUT}", "for i in I.parallel(I.domain(0, x.shape[0])):\n    put(out, i, x[i] * 2)", {}, TWICE),
    ("a helper of itself", "@intent.fn\ndef f(v):\n    return f(v)\n", f"{IN}, {OUT}", "out[:] = f(x[:])", {}, "E106"),
    ("a call of a kernel", f"@intent.kernel\ndef other({IN}, {OUT}):\n    out[:] = x[:]\n", f"{IN}, {OUT}", "other(x, out)", {}, "E102"),
    ("a call of a plain function", "def f(v):\n    return v\n", f"{IN}, {OUT}", "out[:] = f(x[:])", {}, "E102"),
]  # fmt: skip
