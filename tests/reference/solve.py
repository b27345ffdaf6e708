"""Roots, exponentials of matrices and RK4 in plain Python, for what the tests compute themselves."""
import math


def bisect(function, low, high):
    """The root of a function that changes sign between low and high."""
    sign = function(low) > 0
    for _ in range(200):
        middle = (low + high) / 2
        if (function(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return low


def rk4(rate, state, end, steps):
    h = end / steps
    for _ in range(steps):
        a = rate(state)
        b = rate([x + h / 2 * k for x, k in zip(state, a)])
        c = rate([x + h / 2 * k for x, k in zip(state, b)])
        d = rate([x + h * k for x, k in zip(state, c)])
        state = [x + h / 6 * (i + 2 * j + 2 * k + l) for x, i, j, k, l in zip(state, a, b, c, d)]
    return state


def exponential(matrix, t):
    """e^(matrix t): Taylor series of a scaled matrix, squared back."""
    n = len(matrix)
    times = lambda a, b: [[sum(a[i][k] * b[k][j] for k in range(n)) for j in range(n)] for i in range(n)]  # noqa: E731
    size = max(sum(abs(x * t) for x in row) for row in matrix)
    halvings = max(0, math.ceil(math.log2(size)) + 1) if size > 0 else 0
    scaled = [[x * t / 2**halvings for x in row] for row in matrix]
    result = term = [[float(i == j) for j in range(n)] for i in range(n)]
    for k in range(1, 25):
        term = [[x / k for x in row] for row in times(term, scaled)]
        result = [[a + b for a, b in zip(r, s)] for r, s in zip(result, term)]
    for _ in range(halvings):
        result = times(result, result)
    return result
