"""The exact motion of examples/two_ball.tact under its recorded hand.

With e = white - black and a white ball at constant speed, m black'' = k e + b e' becomes m e'' + b e' + k e = 0: a damped
oscillator, solved in closed form from corner to corner. At a corner e and black' are continuous, so e' jumps with the
speed of the white ball. Since the damper feels that speed, black'' and F jump too.
"""
import math

from two_ball_hand import corners


def black_ball(until, k=4.0, b=1.0, m=1.0):
    """((x, y), (x', y')) of the black ball at `until`; underdamped (b^2 < 4 k m) only."""
    decay = b / (2 * m)
    omega = math.sqrt(k / m - decay * decay)
    result = []
    for axis in (1, 2):
        error, velocity = 0.0, 0.0  # white - black, and black'
        for before, after in zip(corners(), corners()[1:]):
            start, end = float(before[0]), min(float(after[0]), until)
            speed = float((after[axis] - before[axis]) / (after[0] - before[0]))
            rate = speed - velocity  # e'
            dt = end - start
            sine, cosine, fade = math.sin(omega * dt), math.cos(omega * dt), math.exp(-decay * dt)
            slope = (rate + decay * error) / omega
            error, rate = (
                fade * (error * cosine + slope * sine),
                fade * ((slope * omega - decay * error) * cosine - (error * omega + decay * slope) * sine),
            )
            velocity = speed - rate
            white = float(before[axis]) + speed * dt
            if end == until:
                break
        result.append((white - error, velocity))
    return tuple(zip(*result))


if __name__ == "__main__":
    for time in (1.0, 2.5, 5.25, 10.0):
        print(time, *black_ball(time))
