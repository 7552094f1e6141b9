"""The truth of a case, and how far rounding moves it: PyTorch in float64. Loads torch.

measurement: a network on a sample, ready to run again and again, and to be watched.
compute: runs it, with noise and without, and once more, which must give the same; the result is
the truth with its noise.
flips, explained, likely: runs that take the other branch at a kink; which of them explain a run,
and which are tried.
overflow: what float64 gives where the own run overflows in half precision; whether a network
multiplies matrices.
undecided: the elements of an update whose value rounding decides.
hidden: runs with other settings, to find those that a sample does not show.
updates, mistakes: runs of a training in which the updates are changed, as a mistake changes them.
rules: those of MindSpore's optimisers that are not PyTorch's.
known: the reference's side of a case as it is kept; the only file here that loads no torch.
"""
