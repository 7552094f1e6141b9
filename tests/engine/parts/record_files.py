"""Files of records as MindSpore reads them: twelve samples `x`, with their numbers `y`."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.mindrecord import FileWriter

X = np.random.default_rng(0).normal(size=(12, 4)).astype("float32")
Y = np.arange(12)


def mind(folder, **options):
    """A data set of a MindRecord file."""
    file = str(folder / "samples.mindrecord")
    if not (folder / "samples.mindrecord").exists():
        writer = FileWriter(file)
        writer.add_schema({"x": {"type": "float32", "shape": [4]}, "y": {"type": "int32"}}, "s")
        writer.write_raw_data([{"x": x, "y": int(y)} for x, y in zip(X, Y, strict=True)])
        writer.commit()
    return ds.MindDataset(file, ["x", "y"], **options)


def tensorflow(folder, **options):
    """A data set of a file of TensorFlow's records."""
    file = folder / "samples.tfrecord"
    file.write_bytes(b"".join(_framed(_example(x, y)) for x, y in zip(X, Y, strict=True)))
    schema = ds.Schema()
    schema.add_column("x", ms.float32, [4])
    schema.add_column("y", ms.int64, [1])
    return ds.TFRecordDataset(str(file), schema, **options)


def sentences(folder, lines, labels, typed=True):
    """A data set of a file of TensorFlow's records with text. typed: whether it has a schema."""
    file = folder / "lines.tfrecord"
    columns = [
        {"line": _field(1, _field(1, line.encode())), "label": _field(3, _field(1, bytes([label])))}
        for line, label in zip(lines, labels, strict=True)
    ]
    file.write_bytes(b"".join(_framed(_message(each)) for each in columns))
    schema = ds.Schema()
    schema.add_column("line", ms.string, [])
    schema.add_column("label", ms.int64, [])
    return ds.TFRecordDataset(str(file), schema if typed else None, shuffle=False)


def _example(x, y):
    values = _field(2, _field(1, x.astype("<f4").tobytes()))
    return _message({"x": values, "y": _field(3, _field(1, bytes([y])))})


def _message(columns):
    """A message `tf.train.Example`. columns: name -> a list of values."""
    entries = [_field(1, name.encode()) + _field(2, values) for name, values in columns.items()]
    return _field(1, b"".join(_field(1, each) for each in entries))


def _field(number, payload):
    """A field of bytes, below 128 of them."""
    assert len(payload) < 128
    return bytes([number << 3 | 2, len(payload)]) + payload


def _framed(record):
    """A record with its length and the checksums of both."""
    length = len(record).to_bytes(8, "little")
    return length + _checksum(length) + record + _checksum(record)


def _checksum(data):
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0x82F63B78 if rest & 1 else 0)
    rest ^= 0xFFFFFFFF
    return (((rest >> 15 | rest << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")
