"""Which layers run now, of layers of any framework."""

from equivalence.stream.layers import running


class Handle:
    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        self.hooks.remove(self.hook)


class Layer:
    def __init__(self, *inner):
        self.inner, self.before, self.after = inner, [], []

    def register_forward_pre_hook(self, hook):
        return Handle(self.before, hook)

    def register_forward_hook(self, hook, always_call=False):
        self.always = always_call
        return Handle(self.after, hook)

    def __call__(self, x):
        for hook in self.before:
            hook(self, (x,))
        for layer in self.inner:
            layer(x)
        for hook in self.after:
            hook(self, (x,), None)


def test_paths_are_those_of_the_layers_within_each_other():
    inner = Layer()
    outer = Layer(inner, inner)
    told = []
    layers = [("", outer), ("inner", inner)]

    def entered(path, _layer, _inputs):
        told.append(("in", path, [*paths]))

    def left(path, layer, inputs):
        told.append(("out", path, [*paths], layer is inner, inputs))

    with running(layers, entered, left, always_call=True) as paths:
        outer(5)
    assert told == [
        ("in", "", []),
        *([("in", "inner", [""]), ("out", "inner", [""], True, (5,))] * 2),
        ("out", "", [], False, (5,)),
    ]
    assert inner.always
    assert inner.before + inner.after + outer.before + outer.after == []
