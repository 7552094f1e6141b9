"""The compile cache returns the graph of another function when the order of compilation changes.

The first process compiles f = exp and g = 2x, the second g before f: f then answers as g.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

API = "mindspore.set_context"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ()

PROGRAM = """
import sys
import mindspore as ms
ms.set_context(mode=ms.GRAPH_MODE)
@ms.jit
def f(x):
    return ms.ops.exp(x)
@ms.jit
def g(x):
    return x * 2
for name in sys.argv[1:]:
    print(name, {"f": f, "g": g}[name](ms.Tensor([1.0, 2.0])).asnumpy())
"""
answers = []
with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "program.py"
    program.write_text(PROGRAM)
    settings = {"MS_COMPILER_CACHE_ENABLE": "1", "MS_COMPILER_CACHE_PATH": folder + "/cache"}
    for order in ("fg", "gf"):
        command = [sys.executable, str(program), *order]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
        answers.append(sorted(x for x in done.stdout.splitlines() if x[:2] in ("f ", "g ")))
print("expected", *answers[0])
print("got     ", *answers[1])
assert len(answers[0]) == 2, done.stderr
sys.exit(0 if answers[0] == answers[1] else 1)
