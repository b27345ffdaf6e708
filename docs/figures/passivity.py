"""The figures of docs/passivity.md: runs the program, sorts its rows, and lets the program draw them.

    python3 docs/figures/passivity.py build/bin/tactus 2|4|7a|7b|7c|7d|8|9 [OUT.svg]

Without OUT.svg the figure goes to docs/images. The numbers are those of the figures in Borghesan, Macchelli and Melchiorri's paper.
"""
import csv
import io
import math
import pathlib
import re
import subprocess
import sys
import tempfile

IMAGES = pathlib.Path(__file__).resolve().parent.parent / "images"
MODEL = """simulation ending_time = {end} step_size = {h} solver = {solver} record_period = {every}
constant k = {k}, m = {m};
boundary q(0) = {q}; p(0) = {p};
system q' = {dq}; p' = {dp};
energy H = k / 2 * q^2 + p^2 / (2 * m);
"""


def rows(tactus, end, h, solver, q, p, k, m, dq="p / m", dp="-k * q", every=None, options=()):
    """[(t, q, p)] of a run; by default of the mass on its spring."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.tact"
        path.write_text(MODEL.format(**{**locals(), "every": every or h}), encoding="utf-8")
        command = [tactus, "run", path, "--quiet", "--show", "q,p", "--out", "-", *options]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [tuple(float(row[name]) for name in ("t", "q", "p")) for row in csv.DictReader(io.StringIO(text))]


JOINED = """simulation ending_time = {end} solver = {solver} record_period = {every}
constant k = 1, m = 2;
module Spring = ( boundary q(0) = 0;  system q' = v;  F = k * q;  energy H = k * q^2 / 2;  power end: v -> F; )
module Mass = ( boundary p(0) = 2;  system p' = F;  v = p / m;  energy H = p^2 / (2 * m);  power end: F -> v; )
system
  a = Spring() rate {fast} [Hz];
  b = Mass() rate {slow} [Hz];
  join a.end to b.end {manner};
"""


def joined(tactus, end, fast, slow, every, manner="", solver="passive", show="a.q,b.p"):
    """[(t, shown ..)] of the pair as two systems with rates."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "m.tact"
        path.write_text(JOINED.format(**locals()), encoding="utf-8")
        command = [tactus, "run", path, "--quiet", "--show", show, "--out", "-"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [tuple(float(row[name]) for name in ("t", *show.split(","))) for row in csv.DictReader(io.StringIO(text))]


def draw(tactus, curves, across, out):
    """`curves`: [(name, [(x, y)])], each with points of its own; the program takes the first column across."""
    if pathlib.Path(out).suffix != ".svg":
        sys.exit(f"{out}: the axis is named in the drawing's text, so the figure is an .svg")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "figure.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow([across, *(name for name, _ in curves)])
            for at, (_, points) in enumerate(curves):
                for x, y in points:
                    table.writerow([repr(x), *(repr(y) if at == column else "nan" for column in range(len(curves)))])
        subprocess.run([tactus, "plot", path, "-o", out], check=True)
    # The program takes the first column for the time, and draws its letters as outlines.
    picture = pathlib.Path(out)
    text = picture.read_text(encoding="utf-8")
    label = re.search(r'<text x="([\d.]+)" y="([\d.]+)" font-size="9.5">t \[s\]</text>', text)
    if across != "t [s]":
        x, y = map(float, label.groups())
        cover = f'<rect x="{x - 2}" y="{y - 10}" width="40" height="14" fill="white"/>'
        name = f'<text x="{x + 8}" y="{y}" font-size="10" font-family="sans-serif">{across}</text>'
        text = text.replace(label.group(0), "").replace("</svg>", cover + name + "\n</svg>")
        picture.write_text(text, encoding="utf-8")


def exact(tactus, end, h, q, p, k, m):
    return rows(tactus, end, h, "dop853", q, p, k, m, options=("--tolerance", "1e-10"))


def dashed(points, on=6, off=6):
    return [point if at % (on + off) < on else (point[0], math.nan) for at, point in enumerate(points)]


def plane(points):
    return [(q, p) for _, q, p in points]


def figure_2(tactus):
    start = {"q": 1, "p": 0, "k": 0.5, "m": 1}
    period = 2 * math.pi / math.sqrt(0.5)
    return "q", [("p by Euler, T = 0.2", plane(rows(tactus, 20, 0.2, "euler", **start))),
                 ("p of equal energy", plane(exact(tactus, period, period / 200, **start)))]


def figure_4(tactus):
    k, m = 1, 2
    period = 2 * math.pi / math.sqrt(k / m)
    curves = [(f"H = {h:g}", plane(exact(tactus, period, period / 200, 0, math.sqrt(2 * m * h), k, m))) for h in (0.25, 1)]
    gap = (math.nan, math.nan)
    lines = []
    for a in range(12):
        angle = (a + 0.5) * math.pi / 6
        q, p = 0.15 * math.cos(angle), 0.7 * math.sin(angle)
        line = plane(rows(tactus, 5, 0.05, "rk4", q, p, k, m, dq="k * q", dp="p / m"))
        lines += [(x, y) for x, y in line if abs(x) < 1.8 and abs(y) < 2.4] + [gap]
    curves.append(("field lines", lines))
    steps = []
    for solver in ("passive", "euler"):
        steps.append(rows(tactus, 0.6, 0.6, solver, 1, math.sqrt(2), k, m)[-1][1:])
    after, euler = steps
    curves.append(("Euler, then back", [(1, math.sqrt(2)), euler, after]))
    return "q", curves


def figure_7(tactus):
    start = {"q": 0, "p": 2, "k": 1, "m": 2}
    return rows(tactus, 100, 0.1, "passive", **start), exact(tactus, 100, 0.1, **start)


def figure_7a(tactus):
    passive, true = figure_7(tactus)
    return "q", [("p by Algorithm 1, T = 0.1", plane(passive)), ("p by dop853", dashed(plane(true)[:90], 3, 3))]


def figure_7c(tactus):
    passive, true = figure_7(tactus)
    return "t [s]", [("q by Algorithm 1, T = 0.1", [(t, q) for t, q, _ in passive if t >= 70]), ("q by dop853", dashed([(t, q) for t, q, _ in true if t >= 70]))]


PAIR = {"q": 0, "p": 2, "k": 1, "m": 2}


def figure_7b(tactus):
    """As 7a, with a system for each of the two, and what the discrete gradient makes of both as one."""
    return "q", [("p of two systems", plane(joined(tactus, 100, 10, 10, 0.1))),
                 ("p of one (gradient)", plane(rows(tactus, 100, 0.1, "discrete_gradient", **PAIR)))]


def figure_7d(tactus):
    two = joined(tactus, 100, 10, 10, 0.1)
    one = rows(tactus, 100, 0.1, "discrete_gradient", **PAIR)
    true = exact(tactus, 100, 0.1, **PAIR)
    late = lambda points: [(t, q) for t, q, _ in points if t >= 70]
    return "t [s]", [("q of two systems", late(two)), ("q of one (gradient)", late(one)), ("q by dop853", dashed(late(true)))]


def figure_8(tactus):
    """Spring at 1 kHz, mass at 20 Hz."""
    passive = joined(tactus, 100, 1000, 20, 0.05)
    held = joined(tactus, 40, 1000, 20, 0.05, "hold")
    return "q", [("p, passive hold", plane(passive)), ("p, held samples", plane(held))]


def figure_9(tactus):
    shown = "book.stored,book.held"
    passive = joined(tactus, 100, 1000, 20, 0.05, show=shown)
    gradient = joined(tactus, 100, 1000, 20, 0.05, solver="discrete_gradient", show=shown)
    held = joined(tactus, 60, 1000, 20, 0.05, "hold", show=shown)
    return "t [s]", [("passive hold [J]", [(t, h) for t, h, _ in passive]),
                     ("by gradient [J]", [(t, h) for t, h, _ in gradient]),
                     ("held samples [J]", [(t, h) for t, h, _ in held]),
                     ("100 x kept [J]", [(t, 100 * e) for t, _, e in passive])]


FIGURES = {"2": figure_2, "4": figure_4, "7a": figure_7a, "7b": figure_7b, "7c": figure_7c, "7d": figure_7d, "8": figure_8, "9": figure_9}

if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in FIGURES:
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    across_name, drawn = FIGURES[sys.argv[2]](program)
    draw(program, drawn, across_name, sys.argv[3] if len(sys.argv) == 4 else IMAGES / f"passivity_{sys.argv[2]}.svg")
