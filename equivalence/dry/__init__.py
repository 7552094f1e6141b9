"""Two training scripts in a dry run: their control flow alone, for 10,001 steps.

What a script does beside its passes decides what happens late: a schedule by epochs, the end of a
warm-up, a loss scale that grows every 2,000 steps, an average whose decay changes. So both run once
more with passes that cost nothing: networks answer what they answered before, gradients are the
same on both sides, and optimisers update nothing.

- `recorder`: takes what a dry run shows, and hands it answers and gradients
- `torch_dry`, `mindspore_dry`: the sides of `scripts`, without passes
- `beats`: what is kept of a step
- `judging`: the verdict on two dry runs
- `compare`: runs both
- `files`: no file is written meanwhile
- `command`: `equivalence train`, and `train`
"""
