"""Why no operation is named."""

CHANGED = "an input was changed in place; watch with operations=True names the line"
LOSS = (
    "the gradient is bad where it enters the model: the loss or what it reads, such as targets, is "
    "at fault; watch with operations=True names the operation and its line"
)
RELEASED = (
    "the model was called again before backward, and the inputs of this call are gone; watch with "
    "operations=True names the operation"
)
SYNCHRONISED = (
    "a replay on one rank would wait in SyncBatchNorm for the others; watch with operations=True "
    "names the operation"
)
NOT_FOUND = "no replay gave a bad gradient; watch with operations=True names the operation"
UNSEEN = (
    "the watch saw no call of the model in this step and cannot replay it; call model(x), without "
    "torch.compile, not model.forward(x)"
)


def scaled(scale: float, overflows: int) -> str:
    """Under a GradScaler that scales no longer."""
    note = f"the GradScaler's scale is {scale:g}, so scaling is not the cause"
    if overflows:
        note += f"; {overflows} bad gradients before were counted as overflows"
    return note
