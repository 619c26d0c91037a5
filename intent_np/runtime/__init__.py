"""From a compiled kernel to a launch: what remains when the compiler is gone.

An artifact is run by this package with NumPy, and CuPy on a GPU, alone.  In the order of a call:

    arrays        what an argument is: pointer, shape, strides, dtype, device, library
    binding       the arguments of a call against the kernel's declaration, with typed errors
    scalars       numbers as values that a dtype holds
    aliases       which arrays overlap, and what that means
    classes       the few classes of layouts that calls fall into: the policy that bounds the variants
    plan          what the compiler tells the host about a kernel and its variants
    expressions   integer expressions over extents, strides and scalars
    launch        one call pattern resolved to a function handle and a parameter block
    direct        the warm path of a call: functions written for a kernel and the array types of its arguments
    device, host  resolving a call that comes first: variants, copies; the same for programs that NumPy runs
    artifact      the object that a user holds; storage saves and loads it
"""
