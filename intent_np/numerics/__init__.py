"""What every operator computes, on NumPy arrays, for both NumPy machines.

Each function takes the element type beside the arrays, since `index` and `i64` are stored alike.
"""

from .casts import bitcast, cast, narrow, saturate_cast
from .contractions import contract, matmul
from .grouped import scaled_contract, sparse_contract
from .invalidity import (
    invalid,
    invalid_cast,
    invalid_contraction,
    invalid_reduction,
    invalid_scan,
    may_be_invalid,
)
from .literals import FORMATS, Format, fits, literal
from .order import argsort, histogram
from .pointwise import apply
from .records import quantize_q8_k, quantized_dot
from .reductions import (
    accumulate,
    identity,
    reduce,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reducible,
)
from .storage import Array, bits, computing, dtype_of, storage, widen
from .ulps import bound_holds, distance, ulp_bound

__all__ = [
    "FORMATS", "Array", "Format", "accumulate", "apply", "argsort", "bitcast", "bits", "bound_holds", "cast",
    "computing", "contract", "distance", "dtype_of", "fits", "histogram", "identity", "invalid", "invalid_cast",
    "invalid_contraction", "invalid_reduction", "invalid_scan", "literal", "matmul", "may_be_invalid", "narrow",
    "quantize_q8_k", "quantized_dot", "reduce", "reduce_all",
    "reduce_any", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum", "reducible", "saturate_cast",
    "scaled_contract", "sparse_contract", "storage", "ulp_bound", "widen",
]  # fmt: skip
