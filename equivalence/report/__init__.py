"""What people and programs read of outcomes. Imports no framework.

answer: what each verdict begins with, in plain words.
text: failures, lines of results, and the summary.
failures: the line of results of a failed test, with what the page draws.
lines: what lines of results say of a case.
reach: which decisions a run reached, and which it did not.
accepted: the errors of a green run, kept to show which errors grow.
"""
