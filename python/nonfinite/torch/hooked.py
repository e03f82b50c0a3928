# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Which modules of a model get hooks, and the hooks."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import Any

from torch import nn
from torch.nn import Module

from nonfinite.torch import private

# Modules that seldom make bad outputs of finite inputs (a Dropout may: it multiplies). They get no
# hooks: bad values are seen in the output of the module in front, of the next one or of the caller.
# A replay of the caller names the operation.
KEEP_FINITE = {
    nn.Identity, nn.Flatten, nn.ReLU, nn.ReLU6, nn.Hardtanh, nn.Sigmoid, nn.Tanh, nn.Dropout,
    nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.MaxPool1d, nn.MaxPool2d, nn.MaxPool3d,
}  # fmt: skip


def is_parallel(module: Module) -> bool:
    """Whether a module is a DistributedDataParallel. To call its `forward` again would begin
    another step of the communication between the ranks."""
    # Torch may be built without torch.distributed.
    return any(each.__name__ == "DistributedDataParallel" for each in type(module).__mro__)


def inside_parallel(model: Module) -> Module:
    """The model itself, if it is in a DistributedDataParallel."""
    return model.get_submodule("module") if is_parallel(model) else model


def gets_hooks(module: Module) -> bool:
    """Whether the outputs of a module are looked at. A replay runs a call with all calls inside, so
    modules around a DistributedDataParallel are left out, too."""
    return type(module) not in KEEP_FINITE and not any(map(is_parallel, module.modules()))


def eager(module: Module) -> Module:
    """The module that `torch.compile` got, or the module itself."""
    inner: Any = module
    compiled = type(module).__name__ == "OptimizedModule"
    return getattr(inner, private.ORIGINAL) if compiled else module


def is_compiled(module: Module) -> bool:
    """Whether torch.compile made the module, or module.compile() changed it."""
    return eager(module) is not module or private.compiled_call(module) is not None


def inside_compiled(model: Module) -> set[Module]:
    """The modules that compiled code runs. Hooks there would break its graph into parts."""
    compiled = [each for each in model.modules() if is_compiled(each)]
    return {inner for each in compiled for inner in each.modules() if inner is not each}


def paths(model: Module) -> dict[Module, str]:
    """The path of each module, as the program wrote the model."""
    return {module: written(path) for path, module in model.named_modules(remove_duplicate=False)}


def allowed(model: Module, names: Sequence[str | Module]) -> set[Module | str]:
    """The modules that are meant, and those inside, and names of inputs such as "input x". Raises
    ValueError if the model has no such module, and TypeError if `names` is no list."""
    if isinstance(names, (str, Module)):
        raise TypeError(f"allow is {names!r}, and must be a list")
    found: set[Module | str] = set()
    for name in names:
        if isinstance(name, str) and name.startswith("input "):
            # Paths of modules have no space.
            found.add(name)
            continue
        some = [module for module, path in paths(model).items()
                if module is name or isinstance(name, str) and fnmatchcase(path, name)]  # fmt: skip
        if not some:
            raise ValueError(f"allow: the model has no module {name!r}")
        found.update(inner for each in some for inner in each.modules())
    return found


def written(path: str) -> str:
    """The path of a module or a parameter without what torch.compile adds."""
    return ".".join(each for each in path.split(".") if each != private.ORIGINAL)


Before = Callable[[Module, Any, Any], None]
After = Callable[[Module, Any, Any, Any], None]


def attach(module: Module, before: Before, after: After) -> Callable[[], None]:
    """Adds hooks to a module, which copies of the module and files with the module do not have.
    Returns what removes the hooks."""
    if private.compiled_call(module) is not None:
        return _around(module, before, after)
    hooks = (
        module.register_forward_pre_hook(before, with_kwargs=True),
        module.register_forward_hook(after, with_kwargs=True, always_call=True),
    )
    own = {each.id for each in hooks}

    def without(state: dict[str, Any]) -> None:
        # A class may leave them out.
        for name in filter(state.__contains__, private.HOOKS):
            pairs = state[name].items()
            state[name] = OrderedDict((key, each) for key, each in pairs if key not in own)

    restore = _copied(module, without)

    def remove() -> None:
        for each in hooks:
            each.remove()
        restore()

    return remove


def _around(module: Module, before: Before, after: After) -> Callable[[], None]:
    """Hooks would become a part of the compiled code. So calls them around that code."""
    compiled = private.compiled_call(module)

    def call(*args: Any, **kwargs: Any) -> Any:
        before(module, args, kwargs)
        output = None
        try:
            output = compiled(*args, **kwargs)
        finally:
            after(module, args, kwargs, output)
        return output

    # Copies are not compiled, and do not get this.
    private.set_compiled_call(module, call)
    return lambda: private.set_compiled_call(module, compiled)


def _copied(module: Module, change: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
    """Changes what copies of a module get. Returns what ends that."""
    own = module.__dict__
    before, theirs = own.get("__getstate__"), module.__getstate__

    def state() -> Any:
        found = theirs()
        if isinstance(found, dict):
            found = {name: each for name, each in found.items() if name != "__getstate__"}
            change(found)
        return found

    def restore() -> None:
        own.pop("__getstate__", None)
        if before is not None:
            own["__getstate__"] = before

    # `pickle` and `copy` ask the object, not only its class.
    own["__getstate__"] = state
    return restore
