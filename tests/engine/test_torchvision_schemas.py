"""torchvision becomes importable where its compiled operators do not load."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from equivalence.sides.torch_network import TorchNetwork
from equivalence.torchvision_schemas import SCHEMAS, declare_missing

ROOT = Path(__file__).parents[2]

PACKAGE = {
    "__init__": "from . import extension\nfrom torchvision import _meta_registrations\n",
    "extension": "import torch\n\nof_its_own = torch.library.Library('torchvision', 'DEF')\n"
    "for schema in {schemas!r}:\n    of_its_own.define(schema)\n",
    "_meta_registrations": "import torch\n\nfor name in {names!r}:\n"
    "    torch.library.register_fake('torchvision::' + name)(lambda *_: None)\n",
}
"""A torchvision in few lines: module -> its text. Its extension declares what it is told to."""

IMPORTED = """
import sys
from equivalence import torchvision_schemas

torchvision_schemas.declare_missing()
torchvision_schemas.declare_missing()
assert "torch" not in sys.modules
import torchvision
import torch

print(len(torchvision_schemas._libraries))
print(torch.ops.torchvision.nms.default._schema)
"""


@pytest.mark.parametrize("of_the_extension", [[], ["nms"], ["nms", "qnms"]], ids=str)
def test_what_the_extension_lacks_is_declared_whatever_the_extension_is_called(
    of_the_extension, tmp_path
):
    schemas = [SCHEMAS[name] for name in of_the_extension]
    (tmp_path / "torchvision").mkdir()
    for module, text in PACKAGE.items():
        path = tmp_path / "torchvision" / f"{module}.py"
        path.write_text(text.format(schemas=schemas, names=[*SCHEMAS]))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT)))},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    declared, schema = done.stdout.splitlines()
    assert int(declared) == len(SCHEMAS) - len(of_the_extension)
    assert schema.startswith("torchvision::nms(Tensor dets, Tensor scores")


def test_a_torchvision_network_can_be_built():
    network = TorchNetwork("torchvision.models:resnet18", {"num_classes": 3})
    assert network.slots()["fc.weight"].shape == (3, 512)


def test_an_operator_is_torchvisions_own_or_has_no_kernel_and_says_so():
    declare_missing()
    import torch
    import torchvision

    boxes, scores = torch.zeros(1, 4), torch.zeros(1)
    if torchvision.extension._has_ops():
        assert torch.ops.torchvision.nms(boxes, scores, 0.5).tolist() == [0]
    else:
        with pytest.raises(NotImplementedError, match="torchvision::nms"):
            torch.ops.torchvision.nms(boxes, scores, 0.5)
