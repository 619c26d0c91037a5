"""The policy that bounds the variants: counted on a thousand random calls, and never wrong for one."""

import random
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intent_np.errors import CallError, error
from intent_np.runtime.classes import (
    LAYOUT_LIMIT,
    CallFacts,
    ViewFacts,
    best,
    classify,
    covers,
    has_room,
    specificity,
)
from intent_np.runtime.plan import KernelPlan, VariantClass, VariantPlan, ViewPlan, generic_class
from intent_np.runtime.variants import Variant, Variants

MATMUL = KernelPlan(
    "matmul",
    (
        ViewPlan("a", "f16", "in", ("M", "K"), summed=(1,)),
        ViewPlan("b", "f16", "in", ("K", "N"), summed=(0,)),
        ViewPlan("c", "f16", "out", ("M", "N")),
    ),
)
PRODUCT = KernelPlan("product", MATMUL.parameters, short=("M", "N"))
SOFTMAX = KernelPlan(
    "softmax", (ViewPlan("x", "f16", "in", ("M", "N")), ViewPlan("y", "f16", "out", ("M", "N"))), resident=("N",)
)


def dense(*extents: int, residue: int = 0, row: int | None = None, transposed: bool = False) -> ViewFacts:
    """A matrix with rows of `row` elements; `transposed` exchanges its axes in memory."""
    shape = extents[::-1] if transposed else extents
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * max(extent, 1))
    if row is not None and len(shape) == 2:
        strides[0] = row
    view = [0 if extent <= 1 else stride for extent, stride in zip(shape, strides, strict=True)]
    return ViewFacts(extents, tuple(view[::-1] if transposed else view), residue)


def matmul_call(m: int, n: int, k: int, a: ViewFacts, b: ViewFacts, c: ViewFacts) -> CallFacts:
    return CallFacts({"a": a, "b": b, "c": c}, {"M": m, "N": n, "K": k})


def softmax_call(m: int, n: int, residue: int = 0) -> CallFacts:
    return CallFacts({"x": dense(m, n, residue=residue), "y": dense(m, n)}, {"M": m, "N": n})


def compiled_for(kernel: KernelPlan, calls: list[CallFacts]) -> list[Variant]:
    """The variants that an artifact compiles for a sequence of calls; each call gets one that is right."""
    remarks: list[str] = []
    variants = Variants(kernel, (), _variant, lambda code, text: remarks.append(code))
    for call in calls:
        chosen = variants.choose(call)
        assert covers(chosen.plan.holds, kernel, call, chosen.plan.slack)
    return list(variants.all)


def _variant(holds: VariantClass, slack: int = 0) -> Variant:
    return Variant(VariantPlan(holds, "k", (), (), 4, slack=slack), b"", "", "")


# ---- counts


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("transposed_results", [False, True])
def test_a_thousand_matmuls_need_at_most_twelve_variants(seed: int, transposed_results: bool) -> None:
    random_ = random.Random(seed)

    def extent() -> int:
        return random_.choice(
            [
                random_.randint(1, 300),
                random_.randint(1, 600) * 8,
                random_.randint(1, 8192),
                2 ** random_.randint(0, 13),
            ]
        )

    def matrix(rows: int, columns: int, transposed: bool) -> ViewFacts:
        """Contiguous, padded, cut out of a larger matrix at some offset, or with every second column."""
        width = rows if transposed else columns
        row = random_.choice([None, None, width + random_.choice([1, 2, 8, 64])])
        residue = random_.choice([0, 0, 0, 2, 4, 8])
        found = dense(rows, columns, row=row, residue=residue, transposed=transposed)
        if random_.random() < 0.05:
            return ViewFacts(found.extents, tuple(2 * stride for stride in found.strides), found.residue)
        return found

    calls = []
    for _ in range(1000):
        m, n, k = extent(), extent(), extent()
        a = matrix(m, k, random_.random() < 0.4)
        b = matrix(k, n, random_.random() < 0.4)
        c = matrix(m, n, transposed_results and random_.random() < 0.4)
        calls.append(matmul_call(m, n, k, a, b, c))
    assert len(compiled_for(MATMUL, calls)) <= 12


@pytest.mark.parametrize("longest", [9, 10, 12, 13, 16])
@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_softmax_rows_need_at_most_one_variant_a_power_of_two(longest: int, seed: int) -> None:
    random_ = random.Random(seed)
    lengths = [random_.choice([random_.randint(1, 2**longest), 2 ** random_.randint(0, longest)]) for _ in range(1000)]
    calls = [softmax_call(random_.randint(1, 3000), length) for length in lengths]
    powers_of_two = longest + 1
    assert len(compiled_for(SOFTMAX, calls)) <= powers_of_two


@pytest.mark.parametrize("kernel", [MATMUL, SOFTMAX], ids=lambda kernel: kernel.name)
def test_a_variant_that_there_is_no_room_for_is_replaced_by_one_that_is_right(kernel: KernelPlan) -> None:
    remarks: list[str] = []
    variants = Variants(kernel, (), _variant, lambda code, text: remarks.append(code))
    residues = [0, 2, 4, 8]
    for rows in (64, 65, 66, 68):
        for residue in residues:
            for transposed in (False, True):
                square = [dense(rows, rows, residue=residue, transposed=transposed) for _ in kernel.views]
                names = {name for view in kernel.views for name in view.shape}
                facts = CallFacts(
                    {view.name: one for view, one in zip(kernel.views, square, strict=True)}, dict.fromkeys(names, rows)
                )
                chosen = variants.choose(facts)
                assert covers(chosen.plan.holds, kernel, facts)
    assert len(variants.all) <= LAYOUT_LIMIT


def test_usual_matmuls_share_one_variant() -> None:
    sizes = [128, 512, 1000, 4096, 4104, 8192]
    calls = [matmul_call(m, n, k, dense(m, k), dense(k, n), dense(m, n)) for m in sizes for n in sizes for k in sizes]
    assert [one.name for one in compiled_for(MATMUL, calls)] == ["a16-a1-b1-c1e"]


# ---- classes


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (softmax_call(3, 1000), "a8-x1-y1-N1024"),
        (softmax_call(3, 1002), "a4-x1-y1-N1024"),
        (softmax_call(3, 1001), "a1-x1-y1-N1024"),
        (softmax_call(3, 1), "a1-x1-y1-N128"),
        (softmax_call(0, 0), "a8-x1-y1-N128"),
        (softmax_call(3, 8192), "a8-x1-y1-N8192"),
        (softmax_call(3, 8194), "a4-x1-y1-N16384"),
        (softmax_call(3, 32768), "a8-x1-y1-N32768"),
        (softmax_call(3, 32770), "a4-x1-y1-Nlong"),
        (softmax_call(3, 1000, residue=2), "a1-x1-y1-N1024"),
        (softmax_call(3_000_000, 1000), "a8-x1-y1-N1024-i64"),
    ],
)
def test_class_of_a_softmax(call: CallFacts, name: str) -> None:
    assert classify(SOFTMAX, call).name == name


@pytest.mark.parametrize(
    ("m", "n", "bounds"),
    [
        (1, 512, {"M": 16}),
        (16, 129, {"M": 16}),
        (17, 512, {"M": 64}),
        (65, 512, {"M": 128}),
        (512, 128, {"N": 128}),
        (64, 5, {"M": 64, "N": 16}),
        (129, 129, {}),
    ],
)
def test_products_of_few_rows_or_columns_are_classes(m: int, n: int, bounds: dict[str, int]) -> None:
    holds = classify(PRODUCT, matmul_call(m, n, 64, dense(m, 64), dense(64, n), dense(m, n)))
    assert dict(holds.bucket) == bounds
    longer = matmul_call(200, n, 64, dense(200, 64), dense(64, n), dense(200, n))
    assert covers(holds, PRODUCT, longer) == ("M" not in bounds)


def test_products_of_any_number_of_rows_need_one_variant_for_each_class_of_them() -> None:
    calls = [matmul_call(m, 512, 64, dense(m, 64), dense(64, 512), dense(m, 512)) for m in range(1, 300)]
    assert [dict(one.plan.holds.bucket) for one in compiled_for(PRODUCT, calls)] == [
        {"M": 16}, {"M": 64}, {"M": 128}, {},
    ]  # fmt: skip


def test_facts_of_the_class_are_what_a_compiler_may_use() -> None:
    call = matmul_call(64, 24, 40, dense(64, 40, transposed=True), dense(40, 24), dense(64, 24))
    found = classify(MATMUL, call)
    assert found.name == "a16-a0-b1-c1e"
    assert dict(found.divisible) == {"M": 8, "N": 8}
    assert found.index_bits == 32
    assert found.align_of(MATMUL.view("a")) == 16


@pytest.mark.parametrize(
    ("a", "c", "name"),
    [
        (dense(64, 40), dense(64, 24), "a16-a1-b1-c1e"),
        (dense(64, 40, residue=8), dense(64, 24), "a8-a1-b1-c1e"),
        (dense(64, 40, row=42), dense(64, 24), "a4-a1-b1-c1e"),
        (dense(64, 40, row=41), dense(64, 24), "a1-a1-b1-c1"),
        (ViewFacts((64, 40), (80, 2), 0), dense(64, 24), "generic"),
        (dense(64, 40), dense(64, 24, transposed=True), "a16-a1-b1-c_"),
        (dense(64, 40), dense(64, 24, residue=2), "a16-a1-b1-c1e"),
    ],
)
def test_class_of_a_matmul(a: ViewFacts, c: ViewFacts, name: str) -> None:
    assert classify(MATMUL, matmul_call(64, 24, 40, a, dense(40, 24), c)).name == name


def test_dimensions_of_one_element_have_any_stride() -> None:
    column = ViewFacts((100, 1), (1, 0), 0)
    assert column.unit(favour_last=False) == 0
    assert column.unit(favour_last=True) == 1
    assert column.is_unit(1)
    for favour_last in (False, True):
        assert ViewFacts((1, 100), (0, 1), 0).unit(favour_last) == 1
        assert ViewFacts((1, 1), (0, 0), 0).unit(favour_last) == 1
        assert ViewFacts((100, 1), (7, 0), 0).unit(favour_last) == 1
        assert ViewFacts((), (), 0).unit(favour_last) is None


def test_broadcast_and_reversed_axes_are_not_contiguous() -> None:
    assert ViewFacts((4, 8), (8, 0), 0).unit(True) is None
    assert ViewFacts((4, 8), (1, 0), 0).unit(True) == 0
    assert ViewFacts((4, 8), (8, -1), 0).unit(True) is None
    assert ViewFacts((4, 8), (-8, 1), 4).alignment(1, 2) == 4


# ---- the partial order


def extents(limit: int = 40) -> st.SearchStrategy[int]:
    return st.integers(0, limit) | st.sampled_from([255, 256, 1024, 8192, 8193, 70000])


@st.composite
def softmax_facts(draw: st.DrawFn) -> CallFacts:
    m, n = draw(extents()), draw(extents())

    def view() -> ViewFacts:
        strides = draw(st.tuples(*[st.sampled_from([1, n, n + 1, 8, 2, 0, -1, -n, 2**26])] * 2))
        kept = tuple(stride if extent > 1 else 0 for extent, stride in zip((m, n), strides, strict=True))
        return ViewFacts((m, n), kept, draw(st.sampled_from([0, 2, 4, 8])))

    return CallFacts({"x": view(), "y": view()}, {"M": m, "N": n})


@given(softmax_facts())
def test_a_class_covers_the_call_it_is_for(facts: CallFacts) -> None:
    assert covers(classify(SOFTMAX, facts), SOFTMAX, facts)
    assert covers(generic_class(SOFTMAX), SOFTMAX, facts)


@given(st.data())
def test_a_class_covers_the_matmul_it_is_for(data: st.DataObject) -> None:
    sizes = st.sampled_from([0, 1, 2, 7, 8, 12, 16, 64])
    m, n, k = (data.draw(sizes) for _ in range(3))

    def matrix(rows: int, columns: int) -> ViewFacts:
        transposed = data.draw(st.booleans())
        row = (rows if transposed else columns) + data.draw(st.sampled_from([0, 0, 1, 2, 4, 8]))
        return dense(rows, columns, row=row, residue=data.draw(st.sampled_from([0, 0, 2, 4, 8])), transposed=transposed)

    facts = matmul_call(m, n, k, matrix(m, k), matrix(k, n), matrix(m, n))
    assert covers(classify(MATMUL, facts), MATMUL, facts)


@given(st.lists(softmax_facts(), min_size=1, max_size=6), softmax_facts())
def test_the_most_specific_right_variant_is_taken(others: list[CallFacts], facts: CallFacts) -> None:
    plans = [VariantPlan(classify(SOFTMAX, one), "k", (), (), 4) for one in others]
    plans.append(VariantPlan(generic_class(SOFTMAX), "k", (), (), 4))
    taken = best(SOFTMAX, facts, [(plan, plan) for plan in plans])
    assert taken is not None
    right = [plan for plan in plans if covers(plan.holds, SOFTMAX, facts)]
    assert specificity(taken.holds) == max(specificity(plan.holds) for plan in right)


def test_a_large_block_asks_for_wide_coordinates() -> None:
    call = softmax_call(1, 2**31 - 5000)
    assert classify(SOFTMAX, call).index_bits == 32

    def choose(slack: int) -> str:
        return Variants(SOFTMAX, (), lambda holds: _variant(holds, slack), lambda *_: None).choose(call).name

    assert choose(1024) == "a8-x1-y1-Nlong"
    assert choose(8192) == "a8-x1-y1-Nlong-i64"


@pytest.mark.parametrize(("rows", "bits"), [(2147, 32), (2148, 64)])
def test_offsets_are_as_wide_as_those_of_elements_need(rows: int, bits: int) -> None:
    call = softmax_call(rows, 1_000_000)
    assert classify(SOFTMAX, call).index_bits == bits
    assert call.fits_32_bits(8192) is (bits == 32)  # the offset of a masked lane may wrap


# ---- what is compiled, and what happens where it is not


def test_a_full_house_takes_the_best_of_what_is_there() -> None:
    generic = generic_class(MATMUL)
    classes = [generic]
    for number in count():
        made = VariantClass(generic.unit, align=number + 2, index_bits=32)
        if not has_room(MATMUL, made, classes):
            break
        classes.append(made)
    assert len(classes) == LAYOUT_LIMIT
    assert has_room(MATMUL, generic, classes[1:])


def test_without_a_compiler_the_generic_variant_runs_and_says_so() -> None:
    remarks: list[tuple[str, str]] = []
    held = [_variant(generic_class(SOFTMAX)), _variant(classify(SOFTMAX, softmax_call(3, 1002)))]
    variants = Variants(SOFTMAX, held, None, lambda code, text: remarks.append((code, text)))
    assert variants.choose(softmax_call(9, 904)).name == "a4-x1-y1-N1024"
    assert remarks == []
    assert variants.choose(softmax_call(9, 901)).name == "generic"
    assert remarks == [("P003", "it is right for every call; faster code needs a1-x1-y1-N1024")]


def test_without_anything_right_the_call_is_an_error() -> None:
    held = [_variant(classify(SOFTMAX, softmax_call(3, 1000)))]
    with pytest.raises(CallError) as caught:
        Variants(SOFTMAX, held, None, lambda code, text: None).choose(softmax_call(9, 4000))
    assert caught.value.code == "E418"


def test_a_class_that_fails_to_compile_leaves_the_generic_variant(caplog: pytest.LogCaptureFixture) -> None:
    tried: list[str] = []

    def specialize(holds: VariantClass) -> Variant:
        tried.append(holds.name)
        if not holds.is_generic:
            raise error("E605", kernel="softmax", target="sm_90")
        return _variant(holds)

    variants = Variants(SOFTMAX, (), specialize, lambda code, text: None)
    for _ in range(2):
        assert variants.choose(softmax_call(3, 1000)).name == "generic"
    assert tried == ["a8-x1-y1-N1024", "a8-x1-y1-N1024-i64", "generic"]
    assert "E605" in caplog.text
