"""Histories, made up: a run a day, of some cases each."""

from equivalence.trend.history import History, PastResult, SuiteRun


def result(name="relu-cpu", error=0.5, **fields):
    """A result of a case; it is equal where its error is within the budget."""
    verdict = "equal" if error is not None and error <= 16.0 else "different"
    told = {"budget": 16.0, "unit": "roundings", "tensor": "output.0", "seconds": 1.5}
    return PastResult(name, verdict, 3, error, **told)._replace(**fields)


def run(day, **fields):
    """The run of a day in November; its key and its commit are those of the day."""
    time = f"2026-11-{day:02} 02:17:00.000000"
    return SuiteRun(time, f"c{day}", {"mindspore": "2.9.0"}, key=f"key{day}")._replace(**fields)


def history(**errors):
    """The errors of cases, one for each day."""
    days = max(map(len, errors.values()))
    return History(
        tuple(
            (
                run(day + 1),
                tuple(result(name, each[day]) for name, each in errors.items() if day < len(each)),
            )
            for day in range(days)
        )
    )
