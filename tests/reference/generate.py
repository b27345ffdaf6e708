"""Reference numbers of the examples that have no closed form: prints examples.json.

    python3 tests/reference/generate.py > tests/reference/examples.json

Every number is computed twice, with another order and another step of the Taylor method in 50-digit decimals, and printed
to the 20 digits on which the two must agree.
"""
import json
from decimal import Decimal

import inverted_pendulum_hand
from systems import double_pendulum, inverted_pendulum, lorenz, van_der_pol
from taylor import Given, agreed, decimal_pi, solve


def twice(names, values, system, until, steps, order=30):
    """{name: 20 digits} at `until`, from runs of `steps` at `order` and half as many more at a higher one."""
    first = solve(values, system, until, steps, order)
    second = solve(values, system, until, steps * 3 // 2, order + 4)
    return {"time": until, "values": dict(zip(names, agreed(first, second), strict=True))}


def main():
    pi = decimal_pi()
    hand, balanced = inverted_pendulum_hand.play(order=30)
    again = inverted_pendulum_hand.replay(hand, order=34)
    references = {
        "double_pendulum": twice(["a1", "a1'", "a2", "a2'"], [2 * pi / 3, 0, -pi / 18, 0], double_pendulum, 5, 1000),
        "inverted_pendulum_alone": twice(["x", "x'", "a", "a'"], [0, 0, Decimal("0.1"), 0],
                                         lambda s: inverted_pendulum(s, Given(0)), 10, 500),
        "inverted_pendulum_hand": {"time": 10, "values": dict(zip(["x", "x'", "a", "a'"], agreed(balanced, again)))},
        "lorenz": twice(["x", "y", "z"], [1, 1, 1], lorenz, 15, 1500),
        "van_der_pol": twice(["x", "v"], [2, 0], van_der_pol, 40, 8000),
    }
    print(json.dumps(references, indent=2))


if __name__ == "__main__":
    main()
