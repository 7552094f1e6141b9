"""Finds the statement of the candidate's own code to blame: every operator call is watched.

calls: a run as data: its values, its operator calls, their statements, and one to blame.
torch_calls, mindspore_calls: record a run of either side; the candidate's with values replaced.
same: which values of both sides are the same quantity.
forms: a value of the reference in the form that the candidate has it in.
layouts: the same tensor with its axes in another order, or joined.
lent: layers of the reference in the place of the candidate's wrong ones.
watched: both sides of a case after such runs.
series: what the same call gives each time that it runs, and the results of one call exchanged.
shapes: the first value in another shape that leads to a result.
blame: finds the first statement whose result, replaced by the reference's, mends the outputs.
handed: numbers that a call hands to a function, and a run with another one.
cotangents: what comes back to the quantities that both sides have.
backward: finds the statements whose cotangents, replaced by the reference's, mend the gradients.
raised: finds where the reference goes on where a candidate raises.
"""
