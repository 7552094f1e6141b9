"""Examples of each command, which its help ends with."""

EXAMPLES = {
    "compare": (
        "compare nets:Net ports:Net --input 'normal(2, 3, 64, 64)'",
        "compare nets:Net ports:Net --input x.npy --weights net.pth --phase eval --html page.html",
    ),
    "convert": (
        "convert net.pth net.ckpt",
        "convert net.pth net.ckpt --network ports:Net --rename dense=fc",
    ),
    "findings": ("findings list gradient", "findings run selu_gradient"),
    "coverage": ("coverage nets.py", "coverage nets:Net --fix-hints"),
    "accept": ("accept", "accept reports/results.jsonl --device ascend"),
    "page": ("page reports/results.jsonl", "page first.jsonl second.jsonl --html both.html"),
    "trend": ("trend", "trend reports --case 'resnet*'"),
    "time": (
        "time nets:Net ports:Net --input 'normal(2, 3, 64, 64)'",
        "time nets:Net ports:Net --input x.npy --device ascend --json times.json",
    ),
    "evaluate": (
        "evaluate nets:Net ports:Net --weights net.pth --data data:loader",
        "evaluate nets:Net ports:Net --data data:loader --batches 4 --metric metrics:f1",
    ),
    "generate": (
        "generate nets:greedy ports:greedy --input 'integers(2, 4, high=100)' --arguments "
        "'net=network(nets:Net, ports:Net)'",
        "generate nets:beams ports:beams --input ids.npy --weights net.pth --arguments "
        "'net=network(nets:Net, ports:Net)' width=4",
    ),
    "quantised": (
        "quantised nets:trained nets:int8 --input 'normal(8, 3, 64, 64)'",
        "quantised nets:trained ports:int8 --input x.npy --json layers.json",
    ),
    "data": (
        "data data_torch:loader data_mindspore:dataset",
        "data data_torch:loader data_mindspore:dataset --batches 8 --arguments train=True --time",
    ),
    "curve": (
        "curve loss_torch.csv loss_mindspore.log",
        "curve nets:train ports:train --steps 300 --picture curve.svg",
    ),
    "train": (
        "train torch_train.py ms_train.py --steps 20",
        "train torch_train.py ms_train.py --torch-args='--lr 0.1' --mindspore-args='--lr 0.1'",
    ),
}
"""Command -> two commands that show how it is used."""
