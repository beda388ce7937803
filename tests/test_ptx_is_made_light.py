"""PTX that own launches keep: bodies of loops in line, so that nothing is copied to a stack, and addresses that LLVM
has taken out of a loop reckoned where they are used. What is not as expected stays as it is.
"""

import pytest

from tisim.device.in_line import in_line
from tisim.device.near_uses import MANY, near_uses

CALLED = """\
.func function_body_$_1
(
	.param .b64 function_body_$_1_param_0,
	.param .b64 function_body_$_1_param_1,
	.param .b32 function_body_$_1_param_2
)
;
.visible .entry one_kernel_0_range_for(
	.param .align 8 .b8 one_kernel_0_range_for_param_0[32]
)
.maxntid 128, 1, 1
{
	.local .align 8 .b8 	__local_depot0[32];
	.reg .b64 	%SP;
	.reg .b64 	%SPL;
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<6>;

	mov.u64 	%SPL, __local_depot0;
	cvta.local.u64 	%SP, %SPL;
	add.u64 	%rd1, %SP, 0;
	add.u64 	%rd2, %SPL, 0;
	ld.param.u64 	%rd5, [one_kernel_0_range_for_param_0];
	st.local.u64 	[%rd2], %rd5;
	mov.u32 	%r3, %tid.x;
	{ // callseq 7, 0
	.reg .b32 temp_param_reg;
	.param .b64 param0;
	st.param.b64 	[param0+0], %rd1;
	.param .b64 param1;
	st.param.b64 	[param1+0], %rd4;
	.param .b32 param2;
	st.param.b32 	[param2+0], %r3;
	call.uni~
	function_body_$_1,~
	(
	param0,~
	param1,~
	param2
	);
	} // callseq 7
	ret;
                                        // -- End function
}
.func function_body_$_1(
	.param .b64 function_body_$_1_param_0,
	.param .b64 function_body_$_1_param_1,
	.param .b32 function_body_$_1_param_2
)                                       // -- Begin function
{
	.reg .b32 	%r<3>;
	.reg .b64 	%rd<5>;

	ld.param.u32 	%r1, [function_body_$_1_param_2];
	ld.param.u64 	%rd1, [function_body_$_1_param_0];
	ld.u64 	%rd2, [%rd1];
	ld.u64 	%rd3, [%rd1+8];
	st.u32 	[%rd2], %r1;
	ret;
}
""".replace("~", " ")  # at ends of lines


def test_the_body_of_a_loop_takes_the_place_of_its_call():
    text = in_line(CALLED)
    assert not any(word in text for word in (".local", "call", ".func", "%SP", "depot"))
    assert "ld.param.u64 	%rd2, [one_kernel_0_range_for_param_0];" in text
    assert "ld.param.u64 	%rd3, [one_kernel_0_range_for_param_0+8];" in text
    assert "mov.u32 	%r6, %tid.x;" in text and "mov.u32 	%r1, %r6;" in text  # behind the body's three
    assert ".reg .b32 	%r<7>;" in text and ".reg .b64 	%rd<11>;" in text
    assert text.count("ret;") == 1 and "bra.uni 	$L__function_body_$_1_end;\n" in text


@pytest.mark.parametrize(
    "here, there",
    [
        ("ld.u64 	%rd3, [%rd1+8];", "st.u64 	[%rd1+8], %rd2;"),  # writes to the copy
        ("st.u32 	[%rd2], %r1;", "st.u64 	[%rd2], %rd1;"),  # keeps its address
        ("mov.u32 	%r3, %tid.x;", "ld.u32 	%r3, [%rd1];"),  # the task reads the copy, too
        ("[%rd2], %r1;", "[function_body_$_1_param_1], %r1;"),  # asks for a thread's own memory
    ],
)
def test_what_is_not_as_expected_stays(here, there):
    text = CALLED.replace(here, there)
    assert text != CALLED and in_line(text) == text


def looped(places):
    """A task that reckons so many addresses before a loop and uses them in it."""
    before = (
        f"	add.s32 	%r{9 + i}, %r1, {i};\n	cvt.s64.s32 	%rd{9 + i}, %r{9 + i};\n" for i in range(places)
    )
    inside = (f"	shl.b64 	%rd1, %rd{9 + i}, 2;\n	st.u32 	[%rd1], %r3;\n" for i in range(places))
    return (
        f".visible .entry one(\n)\n{{\n	.reg .b32 	%r<{9 + places}>;\n	.reg .b64 	%rd<{9 + places}>;\n"
        f"	mov.u32 	%r1, %tid.x;\n{''.join(before)}$L__1:\n{''.join(inside)}	@%p1 bra 	$L__1;\n	ret;\n}}"
    )


def test_addresses_are_reckoned_where_they_are_used():
    text = near_uses(looped(MANY))
    n = 9 + MANY + MANY - 1
    last = f"	add.s32 	%r{n}, %r1, {MANY - 1};\n	cvt.s64.s32 	%rd{n}, %r{n};\n"
    last += f"	shl.b64 	%rd1, %rd{n}, 2;\n"
    assert last in text.partition("$L__1:")[2]
    assert f"%r<{n + 1}>" in text and f"%rd<{n + 1}>" in text


def test_few_of_them_stay_where_they_are():
    assert near_uses(looped(MANY - 1)) == looped(MANY - 1)


def test_a_place_that_changes_is_not_read_later():
    text = near_uses(looped(MANY).replace("	ret;", "	add.s32 	%r1, %r3, 1;\n	ret;"))
    assert "%r1," not in text.partition("$L__1:")[2].replace("	add.s32 	%r1, %r3, 1;", "")
    assert f"	cvt.s64.s32 	%rd{9 + MANY}, %r9;\n" in text
