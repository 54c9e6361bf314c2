"""What notebooks show of values, and tables as text."""
from ._native import Unavailable

# A drawing of more instructions than this is no picture any more: the page to look around in is shown.
_MOST_DRAWN = 400


def _escape(text):
    import html

    return html.escape(text)


def _frame(page, height):
    """A page within a page."""
    return (f'<iframe srcdoc="{_escape(page)}" width="100%" height="{height}" '
            'style="border: 1px solid #ccc"></iframe>')


def module_html(self):
    """The graph as a drawing; as a page, if it is large or Graphviz's library is missing."""
    if self.text().count("\n") <= _MOST_DRAWN:
        try:
            svg = self.draw("svg").decode()
            return svg[svg.index("<svg"):]
        except Unavailable:
            pass
    return _frame(self.draw("html").decode(), 600)


def diff_html(self):
    """The report."""
    return f"<pre>{_escape(self.report)}</pre>"


def _profile_rows(self):
    total = sum(row.seconds for row in self.rows) or 1.0
    for row in self.rows:
        yield f"{100 * row.seconds / total:5.1f}%", f"{1e6 * row.seconds:12.1f}", str(row.calls), row.library, row.text


def profile_text(self):
    """A table: share, microseconds of all runs, calls, the library that did it, the instruction."""
    lines = [f"{self.runs} runs, {1e6 * self.seconds:.1f} us"]
    lines += ["  ".join((share, time, calls.rjust(6), library.ljust(8), text[:100]))
              for share, time, calls, library, text in _profile_rows(self)]
    return "\n".join(lines)


def profile_html(self):
    cells = ["<tr>" + "".join(f"<td>{_escape(cell.strip())}</td>" for cell in row) + "</tr>"
             for row in _profile_rows(self)]
    head = "<tr><th>share</th><th>us</th><th>calls</th><th>library</th><th>instruction</th></tr>"
    return f"<table>{head}{''.join(cells)}</table>"
