"""Machine code is made of IR that says that arguments stay, arrays do not overlap, and indices do not overflow."""

from tisim.device import machine_code, promises

KINDS = ["f64*", "i32", "i32*"]
BODY = """define void @k_kernel_0_serial(%c* %context) {
  %1 = load ARGUMENTS*, ARGUMENTS** %0, align 8
  %2 = getelementptr ARGUMENTS, ARGUMENTS* %1, i64 0, i32 0, i32 1
  %3 = load double*, double** %2, align 8
  %4 = getelementptr double, double* %3, i64 7
  %5 = load double, double* %4, align 8
  %6 = getelementptr ARGUMENTS, ARGUMENTS* %1, i64 0, i32 1
  %7 = load i32, i32* %6, align 4
  %8 = getelementptr ARGUMENTS, ARGUMENTS* %1, i64 0, i32 2, i32 1
  %9 = load i32*, i32** %8, align 8
  store i32 %7, i32* %9, align 4
  %10 = load i32, i32* %unknown, align 4
  %11 = add i32 %7, 3
  %12 = sext i32 %11 to i64
  %13 = getelementptr double, double* %3, i64 %12
  %14 = add i32 %7, -1640531527
  %15 = sext i32 %14 to i64
  %16 = mul i64 %15, 5
"""


def told():
    """The lines of BODY with what is promised, by what they begin with."""
    arguments = machine_code.type_of(KINDS)
    text = promises.promise(BODY.replace("ARGUMENTS", arguments), arguments)
    assert f"%arguments = type {arguments}\n" in text
    return {line.split(" = ")[0].strip(): line for line in text.splitlines()}


def test_arguments_are_constant():
    lines = told()
    assert all("!invariant.load" in lines[name] for name in ("%1", "%3", "%7", "%9"))


def test_numbers_of_arrays_are_not_constant_and_each_array_has_its_type():
    lines = told()
    store = next(line for line in lines.values() if line.startswith("  store"))
    assert "!invariant.load" not in lines["%5"] + store
    assert lines["%5"].split("!tbaa")[1] != store.split("!tbaa")[1]


def test_nothing_is_promised_of_what_is_not_followed():
    assert told()["%10"].endswith("align 4")


def test_sums_that_index_an_array_do_not_overflow_and_others_may():
    lines = told()
    assert "add nsw i32 %7, 3" in lines["%11"]
    assert "nsw" not in lines["%14"]
