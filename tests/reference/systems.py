"""The equations of the examples, solved for their highest derivatives by hand, for taylor.py.

Independent of the examples' text on purpose: accelerations here come from Cramer's rule on paper, not from a compiler.
"""
from decimal import Decimal

from taylor import sine_cosine

G = Decimal("9.81")


def inverted_pendulum(states, hand, k_h=200, big_m=10, m=1, l=4):
    """x, x', a, a' of examples/inverted_pendulum.tact.

    With c = cos a, s = sin a:   (M + m) x'' + m l c a'' = F + m l a'^2 s
                                         c x'' +   l a'' = g s
    whose determinant is l (M + m s^2).
    """
    x, vx, a, va = states
    s, c = sine_cosine(a)
    force = k_h * (hand - x)
    first = force + m * l * va * va * s
    second = G * s
    determinant = l * (big_m + m * s * s)
    return [vx, (l * first - m * l * c * second) / determinant, va, ((big_m + m) * second - c * first) / determinant]


def double_pendulum(states, m1=1, m2=1, l1=1, l2=1):
    """a1, a1', a2, a2' of examples/double_pendulum.tact.

    With c, s of a1 - a2:   (m1 + m2) l1 a1'' + m2 l2 c a2'' = -m2 l2 s a2'^2 - (m1 + m2) g sin a1
                                    l1 c a1'' +    l2   a2'' =     l1 s a1'^2 - g sin a2
    whose determinant is l1 l2 (m1 + m2 s^2).
    """
    a1, v1, a2, v2 = states
    s, c = sine_cosine(a1 - a2)
    s1, _ = sine_cosine(a1)
    s2, _ = sine_cosine(a2)
    first = -m2 * l2 * s * v2 * v2 - (m1 + m2) * G * s1
    second = l1 * s * v1 * v1 - G * s2
    determinant = l1 * l2 * (m1 + m2 * s * s)
    return [v1, (l2 * first - m2 * l2 * c * second) / determinant,
            v2, ((m1 + m2) * l1 * second - l1 * c * first) / determinant]


def lorenz(states, sigma=10, rho=28):
    x, y, z = states
    beta = Decimal(8) / 3
    return [sigma * (y - x), x * (rho - z) - y, x * y - beta * z]


def van_der_pol(states, mu=5):
    x, v = states
    return [v, mu * (1 - x * x) * v - x]
