"""A compare-exchange compares with what the author expects, in the machine code too."""

import re

import intent_np as intent
import intent_np.language as I
from intent_np.compiler import Compilation
from intent_np.runtime.plan import generic_class
from intent_np.target import SM_90


@intent.kernel
def exchanged(x: I.In[I.i32, ("N",)], z: I.InOut[I.i32, ("N",)], y: I.Out[I.i32, ("N",)]):
    for i in I.parallel(I.domain(0, x.shape[0])):
        y[i] = I.atomic.compare_exchange(z, index=(i,), expected=I.cast(i, I.i32), desired=x[i]).old_value


def test_what_is_expected_has_a_register_of_its_own() -> None:
    """Triton clears the register of the result before the instruction that compares: the two must not be one."""
    compilation = Compilation(exchanged, SM_90, {}, intent.CompileOptions())
    ptx = compilation.variant(generic_class(compilation.plan)).ptx
    exchanges = re.findall(r"cas\.b32\s+(%r\d+), \[[^]]*\], (%r\d+),", ptx)
    assert exchanges
    assert all(found != expected for found, expected in exchanges)
