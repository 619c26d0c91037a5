"""Members that are gone through one by one read what was there, where a statement in front has replaced it."""

from intent_np.passes.pipeline import run as passes
from intent_np.terms.core import Arena
from intent_np.terms.normal import NORMAL
from intent_np.terms.parse import parse
from tests.backends.test_triton_levels import check_triton, every_pass

REPLACED = """\
M = extent
N = extent
x_s0 = stride x 0
x_s1 = stride x 1
x = view in i32[M, N] strides [x_s0, x_s1]
y_s0 = stride y 0
y_s1 = stride y 1
y = view inout i32[M, N] strides [y_s0, y_s1]
z_s0 = stride z 0
z_s1 = stride z 1
z = view inout i32[M, N] strides [z_s0, z_s1]
m = axis 0..M
n = axis 0..N
a = axis 0..m + 1
sum = combine [i32] arg(a, 0, i32) + arg(b, 0, i32)
l = load x[m, n]
program @random(x, y, z, M, N) {
  store y[m, n] = (scan sum over m of l from 0:i32) + l
  store y[m, n] = (scan sum over n of (reduce sum over a of (load y[m, n]) from 0:i32) from 0:i32) again 2
}
"""


def test_the_launch_is_read() -> None:
    with Arena():
        check_triton(parse(REPLACED, NORMAL), {"M": 3, "N": 5}, every_pass({"block_axes": {"sizes": {"m": 1}}}), 32)


def test_it_is_read_in_a_copy() -> None:
    """The loop over the members comes behind the store that replaces what they read."""
    with Arena():
        launch = passes(parse(REPLACED, NORMAL), check=True)
        assert [a.view.mode for a in launch.arguments if hasattr(a, "view") and a.view.mode == "copy"] == ["copy"]
