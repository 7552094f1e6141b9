"""A training that is right but for inaccurate kernels of MindSpore passes, with their names."""

from dataclasses import replace

from equivalence.host import devices
from equivalence.scripts import compare
from equivalence.scripts.text import document, lines


def test_a_right_port_is_equal_but_for_a_kernel_that_is_declared(compared):
    result = compared("distilled")
    assert result, lines(result)
    assert [each.finding for each in result.kernels] == ["log_softmax_accuracy"]
    assert any(
        line.startswith("  equal but for ops.LogSoftmax on cpu (its own error")
        for line in lines(result)
    )
    assert [each["name"] for each in document(result)["kernels"]] == ["LogSoftmax"]


def test_a_mistake_beside_such_a_kernel_stays(compared):
    for edit in (
        ('"batchmean") * 16', '"batchmean") * 16.001'),
        ("student(x) / 4", "student(x) / 4.001"),
        ("trainable_params(), 0.1)", "trainable_params(), 0.1001)"),
    ):
        result = compared("distilled", edit)
        assert not result, edit
        assert result.kernels == ()


def test_a_kernel_that_is_not_declared_is_no_excuse(compared, monkeypatch):
    cpu = devices.DEVICES["cpu"]
    others = {name: each for name, each in cpu.inaccurate.items() if name != "LogSoftmax"}
    monkeypatch.setitem(devices.DEVICES, "cpu", replace(cpu, inaccurate=others))
    result = compared("distilled")
    assert not result
    assert result.kernels == ()


def test_a_right_port_needs_no_run_with_accurate_kernels(compared, monkeypatch):
    monkeypatch.setattr(compare, "but_for_kernels", None)
    assert compared("plain").kernels == ()
