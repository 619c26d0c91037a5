"""E6: lower compilers and devices"""

from .declare import PROVIDER, USE, ErrorCode

ROWS = (
    ErrorCode(
        "E601",
        PROVIDER,
        "{provider} could not compile '{kernel}'",
        "The generated source was refused by the lower compiler; its message is kept below.",
        "report it with the generated source; another target or --disable PASS may avoid it",
    ),
    ErrorCode(
        "E602",
        USE,
        "the target '{target}' is not supported",
        "The compiler needs to know what the device can do.",
        "choose one of the known targets",
        "auto, cpu, reference, sm_80, sm_90, sm_100, or an intent_np.Target",
    ),
    ErrorCode(
        "E603",
        PROVIDER,
        "{package} is not available",
        "{purpose} needs it.",
        "{command}",
    ),
    ErrorCode(
        "E604",
        PROVIDER,
        "the launch of '{kernel}' failed",
        "The driver refused it, or a previous launch left the device in error.",
        "run intent-np doctor, and check the device with its own tools",
    ),
    ErrorCode(
        "E605",
        PROVIDER,
        "'{kernel}' needs more shared memory than a block has on {target}",
        "All tiles of a block that are in flight at once share this memory.",
        "choose smaller blocks or fewer stages",
    ),
)
