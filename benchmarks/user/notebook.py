"""What a notebook does: live networks are compared, and the result is looked at."""

from net_mindspore import Net as Right
from net_torch import Net
from wrong_mindspore import Forgetful, Scaled

from equivalence import compare, normal, settings

result = compare(Net(), Right(), normal(4, 3, 8, 8))
print(f"the right port: {'equal' if result else 'different'}")
print(result)
assert "56 tensors of 4 cases of 1 twin" in result._repr_html_()

result = compare(Net(), Scaled(), normal(4, 3, 8, 8), phase="eval", execution="pynative")
print(f"the wrong port: {'equal' if result else 'different'}")
print(result)

different = settings(Net(), Forgetful())
print(f"{len(different)} setting differs: {different[0]}")
