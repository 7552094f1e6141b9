"""Lines that launch a training are read; what cannot be run here is told with a cure."""

import pytest

from equivalence import DeclarationError, train
from equivalence.ranks.launch_lines import Line, demand_ranks, read


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("torchrun --nproc_per_node 2 train.py --lr 0.1", 2),
        ("torchrun --standalone --nnodes=1 --nproc-per-node=4 train.py --lr 0.1", 4),
        ("python3 -u -m torch.distributed.run --nproc_per_node=2 train.py --lr 0.1", 2),
        ("python -m torch.distributed.launch --nproc_per_node 2 train.py --lr 0.1", 2),
        ("torchrun train.py --lr 0.1", 1),
        ("msrun --worker_num=2 --local_worker_num 2 --join True train.py --lr 0.1", 2),
        ("/opt/bin/msrun train.py --lr 0.1", 8),
        ("mpirun -n 2 --allow-run-as-root python train.py --lr 0.1", 2),
        ("mpirun -np 4 python train.py --lr 0.1", 4),
        ("python train.py --lr 0.1", 1),
        ("python3.11 -u train.py --lr 0.1", 1),
    ],
)
def test_what_launches_a_script(text, ranks):
    assert read(text, "reference") == Line("train.py", "--lr 0.1", ranks)


def test_variables_and_quotes_of_a_line():
    line = read("A=1 B_2='x y' python train.py --name 'a b'", "candidate")
    assert line == Line("train.py", "--name 'a b'", 1, {"A": "1", "B_2": "x y"})


@pytest.mark.parametrize("text", ["train.py", "nets:train", "some folder/train.py"])
def test_a_script_or_a_function_is_itself(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some folder").mkdir()
    (tmp_path / "some folder" / "train.py").touch()
    assert read(text, "reference") == Line(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("torchrun --nproc_per_node=gpu train.py", "starts 'gpu' ranks; write their number"),
        ("torchrun --nnodes=2 --nproc_per_node=2 train.py", "is for several hosts"),
        ("msrun --worker_num=8 --local_worker_num=4 train.py", "is for several hosts"),
        ("python -m package.train", "names no script"),
        ("torchrun --nproc_per_node 2 'train.py", "is no line of a shell: No closing quotation"),
    ],
)
def test_what_cannot_be_run_here_is_a_sentence(text, told):
    with pytest.raises(DeclarationError, match=told):
        read(text, "reference")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "#!/bin/sh\n# torchrun a.py\nexport A=1\ntorchrun \\\n  --nproc_per_node 2 a.py &\n",
            "; give the line in it that starts the training: 'torchrun --nproc_per_node 2 a.py'",
        ),
        (
            "bash set.sh\nmsrun --worker_num $N train.py\n",
            ", with the values of its variables: 'msrun --worker_num $N train.py'",
        ),
        ("make train\n", "such as 'torchrun --nproc_per_node 2 train.py'"),
        (None, "is a shell script, and there is no such file; give the line"),
    ],
)
def test_a_shell_script_is_told_with_the_line_to_give(text, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if text:
        (tmp_path / "run.sh").write_text(text)
    with pytest.raises(DeclarationError) as error:
        train("run.sh", "ms.py")
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("theirs", "ours", "asked", "expected"),
    [
        (None, None, None, None),
        (1, 1, None, None),
        (2, 2, None, (2, 2)),
        (2, None, None, (2, 1)),
        (None, 2, None, (1, 2)),
        (None, None, 2, (2, 2)),
        (None, None, (2, 1), (2, 1)),
        (2, None, 2, (2, 2)),
    ],
)
def test_how_many_ranks_each_side_has(theirs, ours, asked, expected):
    assert demand_ranks({"reference": theirs, "candidate": ours}, asked) == expected


@pytest.mark.parametrize(
    ("theirs", "ours", "asked", "told"),
    [
        (None, None, 1, "ranks is 1; one process is run without it"),
        (None, None, (1, 1), "ranks is 1; one process"),
        (None, None, (2, 4), "the ranks are 2 and 4; as many on both sides"),
        (2, 4, None, "the ranks are 2 and 4"),
        (2, None, 4, "ranks is 4, and the line of the reference starts 2"),
        (None, None, (2, 2, 2), "write one number, or one for each side"),
        (None, None, (2, 0), "the ranks are 2 and 0"),
    ],
)
def test_ranks_that_contradict_are_a_sentence(theirs, ours, asked, told):
    with pytest.raises(DeclarationError, match=told):
        demand_ranks({"reference": theirs, "candidate": ours}, asked)


def test_a_line_of_one_process_is_run_with_its_variables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.py").write_text(
        "import os, sys\nraise SystemExit(os.environ['A'] + sys.argv[1])"
    )
    with pytest.raises(Exception, match=r"ends by SystemExit\('1x'\) after 0 steps"):
        train("A=1 python t.py x", "python t.py")
