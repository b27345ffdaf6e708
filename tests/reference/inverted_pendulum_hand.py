"""The recorded hand of examples/inverted_pendulum.tact: prints examples/inverted_pendulum_hand.csv.

    python3 tests/reference/inverted_pendulum_hand.py > examples/inverted_pendulum_hand.csv

Nobody sat at a device: the hand is played by a controller. Every 10 ms it looks at the cart and the rod and moves at
constant speed to where the spring would give the force F = K (x, x', a, a'), rounded to a tenth of a millimetre; it arrives
10 ms later. K places the poles of the linearised system at -1 +- 0.4 i, -1.6 and -1.8. Since the simulated world saw the
very motion that the file describes, the file, replayed, balances the rod: the instability (1.64 1/s) magnifies a replay's
own error by e^16, which leaves a solver at 1e-12 some 1e-5.
"""
from decimal import Decimal

from systems import inverted_pendulum
from taylor import Given, advance

K = [Decimal(k) for k in ("13.6", "39.6", "596", "374.3")]
K_H = Decimal(200)
PERIOD = Decimal("0.01")
START = [Decimal(0), Decimal(0), Decimal("0.1"), Decimal(0)]  # x, x', a, a'


def play(samples=1000, order=16):
    """Hand positions at 0, 0.01, .. and the state (x, x', a, a') at the end."""
    hand, state = [Decimal(0)], START
    for _ in range(samples):
        force = sum(k * s for k, s in zip(K, state, strict=True))
        target = (state[0] + force / K_H).quantize(Decimal("0.0001"))
        rate = (target - hand[-1]) / PERIOD
        state = advance(state, lambda s: inverted_pendulum(s, Given(hand[-1], rate)), PERIOD, order)
        hand.append(target)
    return hand, state


def replay(hand, order):
    """The state at the end under a given hand."""
    state = START
    for before, after in zip(hand, hand[1:]):
        state = advance(state, lambda s: inverted_pendulum(s, Given(before, (after - before) / PERIOD)), PERIOD, order)
    return state


if __name__ == "__main__":
    print("# made by tests/reference/inverted_pendulum_hand.py")
    print("time,hand_x")
    for i, position in enumerate(play()[0]):
        print(f"{i * PERIOD:.2f},{position:.4f}")
