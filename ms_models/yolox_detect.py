"""What an evaluation makes of YOLOX's boxes: of those that overlap, the best of each class."""

import mindspore as ms
from mindspore import nn, ops

from ms_models.yolox_loss import overlap


class Detected(nn.Cell):
    """Boxes and probabilities B,A,5+C -> for each image its detections, the best first.

    A detection is a row of corners (left, top, right, bottom), score, and class. The class is the
    likeliest one, the score the product of its probability and the object's.
    """

    def __init__(self, confidence: float, threshold: float):
        super().__init__()
        self.confidence, self.threshold = confidence, threshold

    def construct(self, found):
        return [self.of_image(image) for image in found]

    def of_image(self, found):
        """The detections of one image."""
        scores, order = ops.sort(found[:, 4] * ops.amax(found[:, 5:], 1), descending=True)
        found = ops.gather(found, order, 0)
        boxes, classes = found[:, :4], ops.argmax(found[:, 5:], dim=1)
        iou, _ = overlap(boxes[:, None], boxes[None])
        # A box is in the way of those behind it, if it is of their class.
        alike = ops.equal(classes[:, None], classes[None])
        rivals = ops.logical_and(iou > self.threshold, alike).asnumpy()
        sure = (scores >= self.confidence).asnumpy()
        kept = []
        for place in range(len(sure)):
            if sure[place] and not rivals[kept, place].any():
                kept.append(place)
        half = boxes[:, 2:] / 2
        classes = classes.astype(boxes.dtype)
        rows = (boxes[:, :2] - half, boxes[:, :2] + half, scores[:, None], classes[:, None])
        return ops.gather(ops.cat(rows, axis=1), ms.Tensor(kept, ms.int32), 0)
