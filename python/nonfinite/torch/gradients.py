# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a watch does when backward begins, and when backward ends."""

import dataclasses

from torch import Tensor, nn

from nonfinite.findings import ENTRY
from nonfinite.torch import nodes, notes
from nonfinite.torch.backward import Pass
from nonfinite.torch.forward import Forward
from nonfinite.torch.found import Found
from nonfinite.torch.history import Steps
from nonfinite.torch.look import look
from nonfinite.torch.operations import Cause, Operations
from nonfinite.torch.report import BACKWARD, FORWARD
from nonfinite.torch.scaler import Scaler
from nonfinite.torch.storages import Named, named


class Gradients:
    """Judges the loss and the gradients of a model. `Outside` calls it."""

    def __init__(
        self, model: nn.Module, forward: Forward, steps: Steps, found: Found, scaler: Scaler
    ) -> None:
        self._model, self.forward = model, forward
        self._steps, self._found, self._scaler = steps, found, scaler
        self.names: Named = {}

    def enter(self) -> None:
        """The watch is entered."""
        self.names = named(self._model)

    def is_reached(self, backward: Pass) -> bool:
        """Whether a backward pass comes to the model."""
        return any(id(leaf.variable) in self._steps.parameters for leaf in backward.leaves) or any(
            nodes.made(node).module in self._found.paths for node in backward.nodes
        )

    def begins(self, roots: list[Tensor], bad: list[Tensor], seen: Operations | None) -> None:
        """Backward begins with `roots`, of which some may be bad. `seen`: the operations outside of
        the model."""
        if not self.forward.is_idle():
            self._steps.trains()
        self.forward.flags.answer()
        self._found.history.add(self._steps.before, roots)
        self._scaler.begins(roots)
        if not bad or self._found.is_judged:
            return
        seen = self.forward.mode or seen
        found = seen.cause_of(bad, masks=True) if seen is not None else None
        if found is None or found.unseen:
            # The operations outside do not know which outputs on a device are meant.
            masks = (call.given_mask() for call in reversed(self.forward.waiting))
            known = (each for each in masks if each and (found is None or each.is_allowed))
            found = next(known, found)
        if self._found.is_expected(self._scaler.expects_loss(found)):
            return
        note = notes.LOSS_IS_BAD if found is None else None
        if found is not None and found.is_mask_from_outside:
            found = dataclasses.replace(found, kind=ENTRY)
        looks = tuple(look(f"loss {n}" if n else "loss", each) for n, each in enumerate(bad))
        self._found.add(FORWARD, None, found, looks, note, self.forward.waiting)

    def bad(self, found: Cause, note: str | None) -> None:
        """A gradient is bad that the program wanted, and the loss is finite."""
        if not self._found.is_judged and not self._found.is_expected(self._scaler.expects()):
            self._found.add(BACKWARD, None, found, found.outputs, note, self.forward.waiting)

    def ends(self, reached: bool, keeps: bool, creates: bool) -> None:
        """Backward ends. `reached`: whether it came to the model. `keeps`: the graph. `creates`: a
        graph of the gradients, which are a part of the step then."""
        if creates or not reached:
            self._found.history.drop()
        if not reached and not self.forward.is_idle():
            # It is one of another model, and this one waits for another backward.
            return
        self.forward.ended = not creates
        if not keeps and not creates:
            self.forward.release()
