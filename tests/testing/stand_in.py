"""Kernels from seeds for tests of campaigns: small, quick, and some of them bad in ways that are known."""

from random import Random

from tests.language.random_control import source as control

HEAD = "import os\nimport intent_np as intent\nimport intent_np.language as I\n\n\n"
KERNEL = """@intent.kernel
def k(
    x: I.In[I.f32, ("M", "N")], y: I.In[I.f32, ("M", "N")], out: I.Out[I.f32, ("M",)], more: I.Out[I.f32, ("M", "N")]
):
    M, N = x.shape
    columns = I.domain(0, N)
    for i in I.parallel(I.domain(0, M)):
        a = x[i, columns]
        b = {first}
        c = I.maximum(b * a, y[i, columns])
        out[i] = I.reduce.{reduce}(c, axis=0)
        more[i, columns] = {second}
"""


def kernel(seed: int) -> str:
    """A sound kernel."""
    r = Random(seed)
    if seed % 4 == 3:
        return control(seed)
    values = ("a + 1.0", "a - y[i, columns]", "I.abs(a)", "a * 2.0", "y[i, columns]")
    text = KERNEL.format(first=r.choice(values), second=r.choice(values), reduce=r.choice(("sum", "max", "min")))
    return HEAD + text


def troubled(seed: int) -> str:
    """A kernel; of seed 2 its generator raises, that of 5 hangs, of 6 its process dies, of 7 it is wrong."""
    if seed == 2:
        raise ValueError(f"no kernel for {seed}")
    if seed == 5:
        return HEAD.replace("import os", "import time\ntime.sleep(3600)") + kernel(0)
    if seed == 6:
        return HEAD.replace("import os", "import os\nos.kill(os.getpid(), 11)") + kernel(0)
    if seed == 7:
        return kernel(0).replace("columns] = a", "columns] = a + unknown")
    return kernel(seed)


def broken(seed: int) -> str:
    """A sound kernel, and a process in which `narrow_ranges` forgets the last segment of each loop."""
    from intent_np.passes import pipeline
    from intent_np.passes.base import Pass
    from intent_np.terms.blocked import Loop
    from intent_np.terms.core import replace, rewrite

    old = pipeline.by_name("narrow_ranges")

    def narrow_ranges(program, *, peel: bool = True):
        short = lambda t: replace(t, segments=t.segments[:1]) if isinstance(t, Loop) else t  # noqa: E731
        return rewrite((old.function(program, peel=peel),), short)[0]

    if old.module != __name__:
        new = Pass(narrow_ranges, old.source, old.target, old.needed, old.permission)
        pipeline.PIPELINE = tuple(new if p is old else p for p in pipeline.PIPELINE)
    return kernel(seed)
