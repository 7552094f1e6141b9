"""What is seen of a run of the reference, and that watching changes nothing of it."""

import sys

import torch
from torch import nn

from equivalence.reach.observer import ReachObserver
from equivalence.reach.words import told
from tests.engine.parts.reached_pt import Net

FILE = "tests/engine/parts/reached_pt.py"


def reach_of(net, *inputs):
    with ReachObserver(net, 2.0**-15) as observer:
        net(*inputs)
    return observer.reach


def test_a_loop_over_blocks_takes_each_decision_once_by_its_line_in_the_networks_code():
    torch.manual_seed(0)
    reach = reach_of(Net(), torch.rand(6, 8))
    assert [told(each).partition(" (largest")[0] for each in reach.missed] == [
        f"{FILE}:15 clamp high of body.*: no element is above 6",
        f"{FILE}:16 if self.scale is not None: never true (line 17 never ran)",
        f"{FILE}:28 min(self.window, x.shape[0]): the first is always the smaller (4 and 6)",
        f"{FILE}:31 clamp high: no element is above 50",
    ]
    assert reach.reached == 2  # the lower bound of ReLU6, and the loop


def test_where_no_code_is_the_networks_own_the_layers_path_is_the_place():
    reach = reach_of(nn.Sequential(nn.Linear(4, 4), nn.ReLU6()), torch.zeros(2, 4))
    assert {key.place for key in reach.decisions} == {"1"}


def test_a_backward_pass_decides_nothing():
    x = torch.rand(2, 3, requires_grad=True)
    with ReachObserver(nn.Identity(), 1.0) as observer:
        x.sin().relu().sum().backward()
    assert [key.kind for key in observer.reach.decisions] == ["kink"]


def test_watching_changes_no_bit_and_leaves_nothing_behind():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, 2), nn.BatchNorm2d(4), nn.GELU(), nn.Flatten(), nn.Linear(36, 5)
    )
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
    for module, x in ((net, torch.randn(2, 3, 8, 8)), (layer, torch.randn(2, 3, 8))):
        plain = module(x)
        plain.square().sum().backward()
        expected = [plain, *(p.grad.clone() for p in module.parameters())]
        module.zero_grad()
        with ReachObserver(module, 2.0**-15):
            watched = module(x)
            watched.square().sum().backward()
        found = [watched, *(p.grad for p in module.parameters())]
        assert all(map(torch.equal, expected, found))
    assert sys.gettrace() is None
