"""Runs of networks whose calls are watched: small instances, trained and evaluated once."""

import importlib

import torch


def _nms(overlaps: torch.Tensor, scores: torch.Tensor, most: float) -> torch.Tensor:
    """The boxes that no better one overlaps by more, the best first."""
    kept = []
    for best in scores.argsort(descending=True, stable=True).tolist():
        if all(overlaps[best, other] <= most for other in kept):
            kept.append(best)
    return torch.tensor(kept, dtype=torch.int64)


def detection() -> None:
    """Each detector of torchvision, with three classes, on images of two sizes."""
    from torchvision.models import detection as zoo
    from torchvision.ops import boxes as of_boxes

    # The compiled operators of torchvision do not load beside every torch.
    of_boxes.nms = lambda found, scores, most: _nms(of_boxes.box_iou(found, found), scores, most)
    keypoints = {"keypoints": torch.rand(2, 4, 3) * 20 + 20}
    masks = {"masks": (torch.rand(2, 64, 80) > 0.5).to(torch.uint8)}
    for build, more, settings in (
        (zoo.fasterrcnn_mobilenet_v3_large_fpn, {}, {"box_score_thresh": 0.0}),
        (zoo.maskrcnn_resnet50_fpn, masks, {"box_score_thresh": 0.0}),
        (zoo.keypointrcnn_resnet50_fpn, keypoints, {"num_keypoints": 4, "box_score_thresh": 0.0}),
        (zoo.retinanet_resnet50_fpn, {}, {"score_thresh": 0.0}),
        (zoo.fcos_resnet50_fpn, {}, {"score_thresh": 0.0}),
        (zoo.ssdlite320_mobilenet_v3_large, {}, {"score_thresh": 0.0}),
        (zoo.ssd300_vgg16, {}, {"score_thresh": 0.0}),
    ):
        sized = {} if "ssd" in build.__name__ else {"min_size": 64, "max_size": 96}
        network = build(
            weights=None, weights_backbone=None, num_classes=3, **sized, **settings
        ).train()
        images = [torch.rand(3, 64, 80), torch.rand(3, 72, 64)]
        boxes = torch.tensor([[4.0, 5.0, 40.0, 50.0], [10.0, 12.0, 60.0, 44.0]])
        target = {"boxes": boxes, "labels": torch.tensor([1, 2])}
        network(images, [{**target, **more}, {**target, **more}])
        with torch.no_grad():
            network.eval()(images)


def swin() -> None:
    """A Swin transformer of each version with two stages, and windows that are padded."""
    swin_transformer = importlib.import_module("torchvision.models.swin_transformer")
    sizes = {"patch_size": [4, 4], "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4]}
    two = {"block": swin_transformer.SwinTransformerBlockV2}
    two["downsample_layer"] = swin_transformer.PatchMergingV2
    for more in ({}, two):
        network = swin_transformer.SwinTransformer(
            **sizes, window_size=[4, 4], num_classes=5, stochastic_depth_prob=0.0, **more
        )
        network.train()(torch.rand(2, 3, 36, 40))
        network.eval()(torch.rand(1, 3, 36, 40))


def llama() -> None:
    """A Llama of two layers, fed at once and piece by piece, in both styles of positions."""
    network = importlib.import_module("pt_reference.llama")
    sizes = {"vocabulary": 40, "width": 32, "layers": 2, "hidden": 48, "heads": 4, "kv_heads": 2}
    tokens = torch.randint(40, (2, 7))
    attended = torch.tensor([[1] * 7, [0] * 2 + [1] * 5])
    for style, scaling in (("halves", ("llama3", 8.0, 1.0, 4.0, 512)), ("interleaved", None)):
        model = network.InPieces((3, 4), style=style, scaling=scaling, **sizes)
        model(tokens, attended)
    for activation in ("silu", "gelu", "gelu_tanh"):
        network.Gated(8, 12, activation)(torch.randn(2, 8))


def yolox() -> None:
    """YOLOX of both kinds of convolutions, its losses, and its detections."""
    of_maps = importlib.import_module("pt_reference.yolox_loss")
    network = importlib.import_module("pt_reference.yolox")
    detect = importlib.import_module("pt_reference.yolox_detect")
    for depthwise in (False, True):
        model = network.YOLOX(4, 0.33, 0.125, depthwise)
        maps = model.train()(torch.rand(2, 3, 64, 64))
        with torch.no_grad():
            found = model.eval()(torch.rand(2, 3, 64, 64))
    boxes = torch.rand(2, 3, 4) * 20 + 14
    labels = (torch.randint(4, (2, 3)), boxes, torch.tensor([2, 3]))
    for kind in ("iou", "giou"):
        of_maps.loss_of_maps(kind, True)(*(each.detach() for each in maps), *labels)
    of_maps.assigned()(*(each.detach() for each in maps), *labels)
    detect.Detected(0.0, 0.5)(found)
