"""The MindSpore call to write for a line of PyTorch."""

import ast
from collections.abc import Mapping

from equivalence.coverage.calls import Call
from equivalence.coverage.reader import AUGMENTED
from equivalence.coverage.torch_names import TENSOR, is_class
from equivalence.coverage.verdict import Danger, Judge, Verdict
from equivalence.declare.operator import Counterpart

FILLED = {"zero_": "ms.ops.zeros_like({0})", "fill_": "ms.ops.full_like({0}, {1})"}
"""In-place methods that no function is named after -> what makes the new tensor."""
SYMBOLS = {
    name: ast.unparse(ast.AugAssign(ast.Name("x"), op(), ast.Name("y")))[2:-3]
    for op, name in AUGMENTED.items()
}


def hint(call: Call, verdict: Verdict, judge: Judge) -> str:
    """What to write instead of a call; empty where nothing is known that is right."""
    node = call.node
    if call.api == f"{TENSOR}.__setitem__":
        if verdict.danger in (Danger.SILENT, Danger.SOMETIMES) and isinstance(node, ast.Subscript):
            tensor, index = ast.unparse(node.value), ast.unparse(node.slice)
            return f"{tensor} = ms.ops.where({index}, value, {tensor}), where {index} is a mask"
        return ""
    if isinstance(node, ast.AugAssign):
        target, symbol = (
            ast.unparse(node.target),
            SYMBOLS.get(call.api.rpartition(".")[2][2:-2], ""),
        )
        return f"{target} = {target} {symbol[:-1]} {ast.unparse(node.value)}" if symbol else ""
    if call.in_place and isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _new_tensor(call, node, node.func.value, judge)
    if verdict.counterpart is None or verdict.danger not in (Danger.VERIFIED, Danger.SOMETIMES):
        return ""
    if isinstance(node, ast.Call):
        return _renamed(call, node, verdict.counterpart)
    if isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Subscript):
        return call.text
    return f"ms.{verdict.apis[0]}" if node is not None else ""


def _new_tensor(call: Call, node: ast.Call, receiver: ast.expr, judge: Judge) -> str:
    """An assignment of the new tensor in place of a method that changes the old one."""
    name, text = call.api.rpartition(".")[2], ast.unparse(receiver)
    arguments = [ast.unparse(each) for each in node.args]
    if name in FILLED:
        made = FILLED[name].format(text, *arguments)
    else:
        given = dict(call.given or {})
        twin = Call(f"{TENSOR}.{name[:-1]}", call.place, given, node=node)
        verdict = judge.judge(twin)
        if verdict.counterpart is None:
            return ""
        made = _renamed(twin, node, verdict.counterpart)
    kept = isinstance(receiver, ast.Name | ast.Attribute | ast.Subscript)
    return f"{text} = {made}" if kept else made


def _renamed(call: Call, node: ast.Call, counterpart: Counterpart) -> str:
    """A call under MindSpore's names."""
    if counterpart.through:
        return f"ms.{counterpart.api}, as {counterpart.through} calls it"
    arguments = list(map(ast.unparse, node.args))
    if call.api.startswith(f"{TENSOR}.") and isinstance(node.func, ast.Attribute):
        receiver = ast.unparse(node.func.value)
        if counterpart.api.startswith("Tensor."):
            return f"{receiver}.{counterpart.api.partition('.')[2]}({', '.join(_all(node, arguments))})"
        arguments.insert(0, receiver)
    words = _all(node, arguments, counterpart.names)
    given = {each.arg for each in node.keywords}
    for name, (ours, _) in counterpart.defaults.items():
        if name not in given and len(node.args) < 2:
            words.append(f"{counterpart.names.get(name, name)}={ours!r}")
    made = f"ms.{counterpart.api}({', '.join(words)})"
    layer = counterpart.api.startswith("nn.") and not is_class(call.api)
    return f"{made}, a layer" if layer else made


def _all(node: ast.Call, arguments: list[str], names: Mapping[str, str] | None = None) -> list[str]:
    keywords = [
        f"{(names or {}).get(each.arg, each.arg)}={ast.unparse(each.value)}"
        if each.arg
        else "**..."
        for each in node.keywords
    ]
    return [*arguments, *keywords]
