"""Tables and figures as Markdown."""


def table(head, rows, left=1):
    """A Markdown table whose first `left` columns are text and the others figures."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * left + "---:|" * (len(head) - left)]
    cells = ([str(cell).replace("|", r"\|") for cell in row] for row in rows)
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in cells]) + "\n"


def figure(value, digits=1):
    if value is None:
        return ""
    return f"{value:.{0 if value >= 100 else digits}f}"


def percent(share):
    return "" if share is None else f"{100 * share:.0f} %"


def ratio(value):
    return "" if value is None else f"{value:.2f}"
