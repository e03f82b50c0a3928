"""Why no operation is named."""

CHANGED = "an input was changed in place; watch with operations=True names the line"
LOSS = (
    "the loss is finite, and the gradient is bad where it enters the model: an operation outside "
    "of the model is at fault; watch with operations=True names the operation"
)
LOSS_IS_BAD = (
    "the loss was bad before backward began, and the watch did not see which operation made it; "
    "watch with operations=True names the operation"
)
MASK = "the -Inf of this mask reached the loss"
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
    "the watch saw no call of the model in this step and cannot replay it; call model(x), not "
    "model.forward(x), and watch what torch.compile returned"
)


def failed(error: Exception) -> str:
    """A replay raised an error. The first line: torch may add the frames of C++."""
    line = (str(error).splitlines() or [""])[0]
    return f"the replay failed: {type(error).__name__}: {line}"
