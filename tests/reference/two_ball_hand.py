"""The recorded hand of examples/two_ball.tact: prints examples/two_ball_hand.csv.

    python3 tests/reference/two_ball_hand.py > examples/two_ball_hand.csv

The hand moves at constant speed between the corners below, 10 s at 100 Hz. Every corner falls on a sample and every sample
is a short decimal, so linear interpolation of the file is the motion itself.
"""
from decimal import Decimal

# time, x, y: rest, go to box1, wait, cross to box2, wait, cross back, wait
CORNERS = [
    ("0", "0", "0"),
    ("0.5", "0", "0"),
    ("1.5", "370", "-280"),
    ("4", "370", "-280"),
    ("5.25", "-330", "220"),
    ("7.75", "-330", "220"),
    ("9", "370", "-280"),
    ("10", "370", "-280"),
]


def corners():
    return [tuple(Decimal(c) for c in corner) for corner in CORNERS]


def position(time):
    """(x, y) of the hand at a Decimal time, exactly."""
    for (t0, x0, y0), (t1, x1, y1) in zip(corners(), corners()[1:]):
        if time <= t1:
            part = (time - t0) / (t1 - t0)
            return x0 + (x1 - x0) * part, y0 + (y1 - y0) * part
    raise ValueError(f"the recording ends before {time}")


if __name__ == "__main__":
    print("# made by tests/reference/two_ball_hand.py")
    print("time,white_ball[1],white_ball[2]")
    for i in range(1001):
        time = Decimal(i) / 100
        x, y = position(time)
        print(f"{time:.2f},{x:.2f},{y:.2f}")
