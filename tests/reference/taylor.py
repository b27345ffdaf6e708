"""An independent solver for reference numbers: Taylor series of arbitrary order in decimal arithmetic.

Shares nothing with Tactus: other method, other arithmetic, other language. A system of ordinary differential equations is
written with `State`s and ordinary operators; every node computes its k-th Taylor coefficient on demand from those of its
arguments, so a state's next coefficient is x[k+1] = f[k] / (k+1). The recurrences are those of Moore, Methods and
Applications of Interval Analysis, SIAM 1979, section 3.4.

The error is controlled by checking, not by estimating: a generator runs twice, with other order and step, and prints only
digits on which both runs agree.
"""
from decimal import Decimal, getcontext

getcontext().prec = 50


def decimal_pi():
    """Machin: pi/4 = 4 atan(1/5) - atan(1/239)."""

    def atan_of_inverse(n):
        power = Decimal(1) / n
        total, k = power, 1
        while abs(power) > Decimal(10) ** -(getcontext().prec + 5):
            power /= -n * n
            k += 2
            total += power / k
        return total

    getcontext().prec += 10
    value = 4 * (4 * atan_of_inverse(5) - atan_of_inverse(239))
    getcontext().prec -= 10
    return +value


def sin_cos(x):
    """Sine and cosine of a Decimal, by the series at x / 1024 and ten doublings."""
    getcontext().prec += 15
    halvings = 10
    y = x / 2**halvings
    sine = cosine = Decimal(0)
    term, k = Decimal(1), 0
    while abs(term) > Decimal(10) ** -(getcontext().prec + 5) or k < 4:
        if k % 2 == 0:
            cosine += term if k % 4 == 0 else -term
        else:
            sine += term if k % 4 == 1 else -term
        k += 1
        term *= y / k
    for _ in range(halvings):
        sine, cosine = 2 * sine * cosine, cosine * cosine - sine * sine
    getcontext().prec -= 15
    return +sine, +cosine


class Node:
    """A function of time as a power series about the current time; coefficients appear when asked for."""

    def __init__(self):
        self.known = []

    def __getitem__(self, k):
        while len(self.known) <= k:
            self.known.append(self.coefficient(len(self.known)))
        return self.known[k]

    def __add__(self, other):
        return Sum(self, as_node(other), 1)

    def __sub__(self, other):
        return Sum(self, as_node(other), -1)

    def __mul__(self, other):
        return Product(self, as_node(other))

    def __truediv__(self, other):
        return Quotient(self, as_node(other))

    def __radd__(self, other):
        return as_node(other) + self

    def __rsub__(self, other):
        return as_node(other) - self

    def __rmul__(self, other):
        return as_node(other) * self

    def __rtruediv__(self, other):
        return as_node(other) / self

    def __neg__(self):
        return 0 - self


class Given(Node):
    """A known polynomial of time: a constant, or an input that moves at constant speed."""

    def __init__(self, *coefficients):
        super().__init__()
        self.given = [Decimal(c) for c in coefficients]

    def coefficient(self, k):
        return self.given[k] if k < len(self.given) else Decimal(0)


def as_node(value):
    return value if isinstance(value, Node) else Given(value)


class Sum(Node):
    def __init__(self, a, b, sign):
        super().__init__()
        self.a, self.b, self.sign = a, b, sign

    def coefficient(self, k):
        return self.a[k] + self.sign * self.b[k]


class Product(Node):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def coefficient(self, k):
        return sum((self.a[j] * self.b[k - j] for j in range(k + 1)), Decimal(0))


class Quotient(Node):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    def coefficient(self, k):
        return (self.a[k] - sum((self.b[j] * self[k - j] for j in range(1, k + 1)), Decimal(0))) / self.b[0]


class Sine(Node):
    """s' = a' c, so k s[k] = sum of j a[j] c[k-j]; its partner with the other sign."""

    def __init__(self, a):
        super().__init__()
        self.a = a
        self.partner = Cosine(self)

    def coefficient(self, k):
        if k == 0:
            return sin_cos(self.a[0])[0]
        return sum((j * self.a[j] * self.partner[k - j] for j in range(1, k + 1)), Decimal(0)) / k


class Cosine(Node):
    def __init__(self, sine):
        super().__init__()
        self.sine = sine

    def coefficient(self, k):
        if k == 0:
            return sin_cos(self.sine.a[0])[1]
        return -sum((j * self.sine.a[j] * self.sine[k - j] for j in range(1, k + 1)), Decimal(0)) / k


def sine_cosine(a):
    sine = Sine(as_node(a))
    return sine, sine.partner


class State(Node):
    """x with x' = `derivative`, a node set once the right-hand sides are written."""

    def __init__(self, value):
        super().__init__()
        self.known = [value]
        self.derivative = None

    def coefficient(self, k):
        return self.derivative[k - 1] / k


def advance(values, right_hand_side, step, order):
    """One Taylor step: `right_hand_side(states)` returns the derivatives as nodes, in the states' order."""
    states = [State(v) for v in values]
    for state, derivative in zip(states, right_hand_side(states)):
        state.derivative = as_node(derivative)
    for k in range(order + 1):  # in this order recursion stays shallow
        for state in states:
            state[k]
    result = []
    for state in states:
        value = Decimal(0)
        for k in range(order, -1, -1):
            value = value * step + state[k]
        result.append(value)
    return result


def solve(values, right_hand_side, until, steps, order):
    """From t = 0 to `until` in equal steps. Autonomous systems only."""
    step = Decimal(until) / steps
    values = [Decimal(v) for v in values]
    for _ in range(steps):
        values = advance(values, right_hand_side, step, order)
    return values


def agreed(first, second, digits=20):
    """The common value of two runs as text of that many significant digits; refuses when they differ there."""
    result = []
    for a, b in zip(first, second, strict=True):
        if abs(a - b) > abs(b) * Decimal(10) ** -(digits + 2):
            raise SystemExit(f"the two runs differ: {a} and {b}")
        result.append(f"{b:.{digits - 1}e}")
    return result
