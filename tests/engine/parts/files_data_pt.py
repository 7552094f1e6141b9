"""A loader over a folder of photos as its user wrote it, in PyTorch."""

from equivalence.torchvision_schemas import declare_missing

declare_missing()

from torch.utils.data import DataLoader  # noqa: E402
from torchvision import datasets, transforms  # noqa: E402

SIDE, CROP = 28, 24


def loader(root):
    """Batches of resized and cropped photos."""
    end = [transforms.Resize(SIDE), transforms.CenterCrop(CROP), transforms.ToTensor()]
    return DataLoader(datasets.ImageFolder(root, transforms.Compose(end)), batch_size=2)
