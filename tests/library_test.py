#!/usr/bin/env python3
"""The modules of library/, against closed forms and computations made here.

    python3 tests/library_test.py build/bin/tactus [TEST..]

tests/library holds the programs. Runs with rk4 at 1 ms of motions of a few rad/s are exact to about 1e-10, so 1e-9 stands
for "the closed form"; other tolerances are argued where they stand. Every module is named on docs/library-modules.md and is used
by a program here.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "tests" / "library"
TACTUS = ""
sys.path.insert(0, str(ROOT / "tests" / "reference"))

from solve import bisect, exponential, rk4  # noqa: E402


def run(program, *options):
    command = [TACTUS, "run", str(PROGRAMS / program), "--json", "--quiet", *map(str, options)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["values"]


class LibraryTest(unittest.TestCase):
    def assert_close(self, got, expected, tolerance=1e-9, what=""):
        got = got if isinstance(got, list) else [got]
        expected = list(expected) if isinstance(expected, (list, tuple)) else [expected]
        self.assertEqual(len(got), len(expected), what)
        for g, e in zip(got, expected):
            self.assertLessEqual(abs(g - e), tolerance, f"{what}: got {got}, expected {expected}")


class Mechanics(LibraryTest):
    ALONG = {1: [1.0], 2: [0.6, 0.8], 3: [2 / 7, 3 / 7, 6 / 7]}

    def test_one_spring_for_every_dimension(self):
        got = run("spring_in_every_dimension.tact")
        swing = 2 + math.cos(1.5 * 3)
        # y'' + 6 y' + 25 y = 0, y'(0) = 2
        ring = 2 / 4 * math.exp(-3 * 3) * math.sin(4 * 3)
        for n, along in self.ALONG.items():
            self.assert_close(got[f"x{n}"], [swing * c for c in along], what=f"x{n}")
            self.assert_close(got[f"y{n}"], [ring * c for c in along], what=f"y{n}")
        fade = math.exp(-0.5 * 3)
        self.assert_close(got["z1"], 4 * (1 - fade))
        self.assert_close(got["z2"], [1 + 4 * (1 - fade), 1 - 2 * (1 - fade)])
        self.assert_close(got["z3'"], [2 * fade] * 3)
        self.assert_close(got["heat"], 5 / 2 * (1 - fade**2))

    def test_a_dashpot_resists_along_its_line_only(self):
        got = run("spring_orbit.tact")
        self.assert_close(got["p"], [2 * math.cos(10), 2 * math.sin(10)])
        self.assert_close(got["d.lost"], 0)
        self.assert_close(got["s.stored"], 4)
        self.assert_close(got["q"], [got["e"], 0])
        w = math.sqrt(8 - 1.5**2)  # e'' + 3 e' + 8 (e - 1) = 0
        self.assert_close(got["e"], 1 + math.exp(-1.5 * 5) * (math.cos(5 * w) + 1.5 / w * math.sin(5 * w)))

    def test_masses_fall_and_are_pushed(self):
        got = run("point_mass.tact")
        self.assert_close(got["a.x"], 10 + 3 * 2 - 9.81 / 2 * 4)
        self.assert_close(got["b.x"], [5 * 2 + 4, 6 * 2 - 9.81 / 2 * 4])
        self.assert_close(got["b.stored"], 0.5 * 2 * (25 + 36) + 4 * 14)  # the push's work
        self.assert_close(got["c.x"], [1 + 2 + 1, 1 + 2, 1 - 2 + 3])

    def test_a_wall_gives_back_what_it_took(self):
        # Down and up takes 2 v/g; in the wall x = -(g/w^2)(1 - cos w s) - (v/w) sin w s, which is 0 again at w s = 2 (pi - atan(v w/g)).
        v, w = math.sqrt(2 * 9.81), math.sqrt(2000 / 0.5)
        period = 2 * v / 9.81 + 2 * (math.pi - math.atan(v * w / 9.81)) / w
        # The corner of the force is not located: a step of 1e-3 across it, where x'' jumps by nothing and x''' by w^2 v, costs 1e-6.
        got = run("wall_bounce.tact", "--until", 5 * period)
        self.assert_close(got["b.x"], 1, 1e-5)
        self.assert_close(got["p.x"], [3 * 5 * period, 1], 1e-5)
        half = 2 + math.pi / 20  # there, half a swing in the wall, and away
        got = run("wall_bounce.tact", "--until", half + 1)
        self.assert_close(got["u.x"], 1, 1e-5)
        self.assert_close(got["u.x'"], -1, 1e-5)

    def test_a_damped_wall_never_pulls(self):
        # x'' + 60 x' + 1e4 x = 0 until x'' = 0
        gamma, w = 30, math.sqrt(1e4 - 900)
        x = lambda s: -math.exp(-gamma * s) / w * math.sin(w * s)  # noqa: E731
        speed = lambda s: math.exp(-gamma * s) * (gamma / w * math.sin(w * s) - math.cos(w * s))  # noqa: E731
        end = bisect(lambda s: -60 * speed(s) - 1e4 * x(s), 0.01, 0.99 * math.pi / w)
        self.assertLess(x(end), 0)
        got = run("wall_damped.tact")
        # At the first instant the depth is 0 and the damper off: an error of one step, 60 N * 1e-5 s / 1 kg.
        self.assert_close(got["m.x'"], speed(end), 1e-3)
        self.assertGreater(got["m.x'"], 0.4)
        self.assert_close(got["w.F"], 0, 0)

    def test_friction_takes_the_energy(self):
        # v' = -a v/s, s = sqrt(v^2 + eps^2): s - eps log((eps + s)/v) falls by a a second.
        eps, a = 0.01, 0.3 * 20 / 2
        fall = lambda v: math.hypot(v, eps) - eps * math.log((eps + math.hypot(v, eps)) / v)  # noqa: E731
        for t in (0.3, 0.6, 0.68):
            expected = bisect(lambda v: fall(v) - fall(2) + a * t, 1e-9, 2)
            got = run("friction.tact", "--until", t)
            self.assert_close(got["m.x'"], expected, 1e-8, f"speed at {t}")
            self.assert_close(got["n.x'"], [0.6 * expected, -0.8 * expected], 1e-8, f"velocity at {t}")
            self.assert_close(got["heat"] + got["m.stored"], 4, 1e-8, f"energy at {t}")
        self.assert_close(run("friction.tact")["m.x"], 2 * 2 / (2 * a), 0.01)  # to rest, but for what eps adds

    def test_friction_holds_a_block_but_for_a_creep(self):
        # push/(mu N) = v/sqrt(v^2 + eps^2)
        got = run("friction.tact")
        self.assert_close(got["o.x'"], 0.001 * 0.9 / math.sqrt(1 - 0.81), 1e-9)
        got = run("friction.tact", "--set", "push=1.2")
        self.assertGreater(got["o.x'"], 0.9)
        self.assert_close(got["q.x'"], math.exp(-3), 1e-9)

    def test_stribeck_curve(self):
        for v in (0.002, 0.05, 0.1, 0.4, 1.0):
            mu = 0.2 + 0.3 * math.exp(-((v / 0.1) ** 2))
            force = mu * 50 * v / math.hypot(v, 0.001) + 4 * v
            got = run("stribeck.tact", "--until", v)
            self.assert_close(got["s.F"], -force, 1e-11)
            self.assert_close(got["v.F"], [-0.6 * force, -0.8 * force], 1e-11)
            self.assert_close(got["v.lost"], force * v, 1e-11)

    def test_pendulum_returns_after_its_period(self):
        # 2 pi sqrt(l/g) / agm(1, cos(a0/2)), Gauss; the start is at rest, so an error of the phase counts twice.
        a, b = 1.0, math.cos(1)
        for _ in range(8):
            a, b = (a + b) / 2, math.sqrt(a * b)
        period = 2 * math.pi * math.sqrt(0.7 / 9.81) / a
        got = run("pendulum_and_gear.tact", "--until", 5 * period)
        self.assert_close(got["p.a"], 2, 1e-9)
        self.assert_close(got["p.a'"], 0, 1e-9)
        self.assert_close(got["p.bob"], [0.7 * math.sin(2), -0.7 * math.cos(2)], 1e-9)
        self.assert_close(got["p.stored"], -3 * 9.81 * 0.7 * math.cos(2), 1e-9)

    def test_pendulum_held_by_a_torque(self):
        got = run("pendulum_and_gear.tact")
        self.assert_close(got["q.a"], math.asin(5 / (1.5 * 9.81 * 0.5)), 1e-9)

    def test_gear_reflects_the_inertia_by_the_square(self):
        got = run("pendulum_and_gear.tact", "--until", 2)
        rate = -5 * 3 / (2 + 25 * 0.1)
        self.assert_close(got["a2"], 1 + 0.5 * 2 + rate / 2 * 4)
        self.assert_close(got["a1'"], -5 * (0.5 + rate * 2))
        self.assert_close(got["T1"] * got["a1'"], got["T2"] * got["a2'"])


class Control(LibraryTest):
    def test_pi_on_a_first_order_plant(self):
        # s^2 + 4 s + 8: poles -2 +- 2i. Y/R = (3 s + 8)/(s^2 + 4 s + 8).
        t = 2
        expected = 1 - math.exp(-2 * t) * (math.cos(2 * t) - 0.5 * math.sin(2 * t))
        self.assert_close(run("pid.tact")["y"], expected)

    def test_pid_on_a_double_integrator(self):
        # p, p', I, filtered; e = -p, D = (-p - filtered)/tf
        kp, ki, kd, tf = 20, 5, 9, 0.05
        loop = [[0, 1, 0, 0], [-kp - kd / tf, 0, 1, -kd / tf], [-ki, 0, 0, 0], [-1 / tf, 0, 0, -1 / tf]]
        expected = [sum(row[k] * start for k, start in enumerate([1, 0, 1, 0])) for row in exponential(loop, 2)]
        got = run("pid.tact")
        # rk4 at the pole -20: (20 h)^4/120 of it, 1e-9
        self.assert_close([got["p"], got["p'"], got["full.I"], got["full.filtered"]], expected, 1e-8)

    def wound(self, kt, until):
        def rate(state):
            y, integral = state
            v = (1 - y) + integral
            u = min(max(v, -2), 2)
            return [u - 0.5, 4 * (1 - y) + kt * (u - v)]

        return rk4(rate, [0.0, 0.0], until, 200000)[0]

    def test_anti_windup(self):
        # Both cross the limit's corner inside a step: 1e-6.
        for name, kt in (("w", 20), ("o", 0)):
            self.assert_close(run("pid.tact")[name], self.wound(kt, 2), 1e-5, name)

    def test_discrete_pid_is_its_recurrence(self):
        h, kp, ki, kd, tf, b, c, high, kt = 0.05, 4, 6, 0.2, 0.1, 0.8, 0.5, 3, 5
        y = u = before = slope = integral = 0.0
        for k in range(40):
            e = c * 1 - y
            slope = (tf * slope + e - before) / (tf + h)
            before = e
            v = kp * (b * 1 - y) + integral + kd * slope
            u = min(v, high)
            integral += h * (ki * (1 - y) + kt * (u - v))
            span = h if k < 39 else 1.99 - 39 * h
            y = u + (y - u) * math.exp(-span)
        got = run("discrete_pid.tact")
        # rk4 at 1 ms on y' = u - y
        self.assert_close([got["y"], got["u"], got["own.pid.I"], got["own.pid.D"]], [y, u, integral, slope], 1e-10)
        self.assert_close([got["z"], got["uz"]], [y, u], 1e-10)

    def test_a_clock_from_outside_may_be_late(self):
        y = integral = u = 0.0
        ticks = [0.02 + 0.05 * k for k in range(40)]
        for here, there in zip(ticks, [*ticks[1:], 1.99]):
            u = 4 * (1 - y) + integral
            integral += 0.05 * 6 * (1 - y)
            y = u + (y - u) * math.exp(-(there - here))
        got = run("discrete_pid.tact")
        self.assert_close([got["w"], got["uw"]], [y, u], 1e-10)

    def test_step_responses_of_filters(self):
        got = run("filters.tact")
        t, fade = 3, math.exp(-3 / 0.5)
        self.assert_close(got["a"], 1 - fade)
        self.assert_close(got["b"], [1 - fade, 2 + fade])
        zeta, w = 0.3, 4
        wd = w * math.sqrt(1 - zeta**2)
        second = 1 - math.exp(-zeta * w * t) * (math.cos(wd * t) + zeta * w / wd * math.sin(wd * t))
        self.assert_close(got["c"], second)
        self.assert_close(got["d"], [second, -second, 2 * second])
        self.assert_close(got["e"], fade)
        # cos(3t) behind s T/(s T + 1) from y = 0: real part of G (e^(3it) - e^(-t/T)), G = 3iT/(1 + 3iT)
        gain = 1.5j / (1 + 1.5j)
        self.assert_close(got["f"], (gain * complex(math.cos(9), math.sin(9)) - gain * fade).real)
        # 1 - 4 s/(s^2 + 4 s + 16) of a step
        wd = 4 * math.sqrt(0.75)
        self.assert_close(got["g"], 1 - 4 * math.exp(-2 * t) * math.sin(wd * t) / wd)

    def test_filters_in_the_steady_state(self):
        # What the start leaves fades like e^(-0.4 * 60) in the resonance, the slowest of them.
        got = run("filters_steady.tact")
        s = 4j
        wave = complex(math.cos(240), math.sin(240))
        self.assert_close(got["r"], (16 / (s * s + 0.8 * s + 16) * wave).imag, 1e-8)
        self.assert_close(got["n"], 0, 1e-9)
        self.assert_close(got["m"], 0.25 * wave.imag, 1e-9)
        s = 8j
        self.assert_close(got["o"], ((s * s + 16) / (s * s + 4 * s + 16) * complex(math.cos(480), math.sin(480))).imag, 1e-9)
        self.assert_close(got["l"], (wave / (1 + 2j)).imag, 1e-9)
        self.assert_close(got["h"], math.sin(4 * 85 * 0.7), 1e-9)

    def test_saturation_and_deadband(self):
        for u, a, b in ((-3, -2, -2.5), (-0.3, -0.3, 0), (0.7, 0.7, 0.2), (4, 1, 3.5)):
            got = run("limits.tact", "--set", f"at={u}", "--until", 0.01)
            self.assert_close([got["a"], got["b"]], [a, b], 1e-15)

    def test_rate_limiter(self):
        got = run("limits.tact", "--until", 4)
        self.assert_close(got["c"], -0.5 + 0.25 * 4)
        self.assert_close(got["d"], [1, -0.4])
        self.assert_close(run("limits.tact", "--until", 11)["c"], 2, 1e-6)

    def test_hysteresis_switches_at_the_crossing(self):
        # On from asin 0.8 until sin falls to -0.5; located, so that the time on is exact.
        on, off = math.asin(0.8), math.pi + math.asin(0.5)
        got = run("limits.tact", "--until", 9.9)
        time = (off - on) + (9.9 - (2 * math.pi + on))
        self.assertLess(9.9, 2 * math.pi + off)
        self.assert_close(got["on_time"], time, 1e-8)
        self.assert_close([got["e"], got["f"]], [1, -2], 0)
        self.assert_close(got["sum_f"], 7 * on - 2 * time + 3 * (2 * math.pi + on - off), 1e-8)


class Sources(LibraryTest):
    def test_values_and_integrals(self):
        got = run("signals.tact")
        t = 4.3
        self.assert_close([got["a"], got["A"]], [2, -1.2345 + 2 * (t - 1.2345)], 1e-12)
        self.assert_close([got["b"], got["B"]], [4, t + 1.5 * 1.5 + 3 * (t - 2.277)], 1e-12)
        w = 2 * math.pi * 0.3
        self.assert_close(got["c"], 1 + 2 * math.sin(w * t + 0.5), 1e-12)
        self.assert_close(got["C"], t + 2 / w * (math.cos(0.5) - math.cos(w * t + 0.5)), 1e-9)
        # 4 periods of 0.9 from 0.2 on end at 3.8; then 0.27 high and 0.23 low.
        self.assert_close([got["d"], got["D"]], [-1, -0.2 + 4 * (0.27 * 2 - 0.63) + 0.27 * 2 - 0.23], 1e-12)
        # From 3.8 on: up to 2 in 0.45, then 0.05 down.
        self.assert_close([got["e"], got["E"]], [2 - 0.05 * 3 / 0.45, -0.2 + 4 * 0.45 + 0.225 + 0.05 * 2 - 0.05**2 / 2 * 3 / 0.45], 1e-12)
        self.assert_close([got["f"], got["F"]], [0, 5 * 0.0101], 1e-12)
        self.assert_close(got["g"], 2 * math.sin(2 * math.pi * (0.5 * t + 2.5 * t * t / 8)), 1e-11)
        self.assert_close(got["h"], 1, 0)

    def test_before_and_within(self):
        got = run("signals.tact", "--until", 0.1)
        self.assert_close([got[n] for n in "abdef"], [-1, 1, -1, -1, 0], 0)
        got = run("signals.tact", "--until", 0.34)
        self.assert_close([got["f"], got["d"]], [5, 2], 0)
        self.assert_close(got["e"], -1 + 0.14 * 3 / 0.45, 1e-12)
        self.assert_close(run("signals.tact", "--until", 1.5)["b"], 1 + 2 * (1.5 - 0.777), 1e-12)


class Electrical(LibraryTest):
    def test_circuits(self):
        got = run("circuits.tact", "--until", 0.002)
        t = 0.002
        self.assert_close(got["v_c"], 5 - 4 * math.exp(-t / 1e-3))
        self.assert_close(got["heat"], 1e-6 * 16 / 2 * (1 - math.exp(-2 * t / 1e-3)), 1e-14)
        self.assert_close(got["c.stored"], 1e-6 / 2 * got["v_c"] ** 2, 1e-18)
        self.assert_close(got["i_l"], 1.2 * (1 - math.exp(-500 * t)))
        gamma = 20 / 0.02
        w = math.sqrt(1 / (0.01 * 4e-6) - gamma**2)
        self.assert_close(got["i"], 9 / (0.01 * w) * math.exp(-gamma * t) * math.sin(w * t))
        self.assert_close(got["v3"], 9 * (1 - math.exp(-gamma * t) * (math.cos(w * t) + gamma / w * math.sin(w * t))), 1e-8)
        # 4 and 6 side by side are 2.4, behind 1
        self.assert_close([got["v_w"], got["i1"], got["i2"]], [10 * 2.4 / 3.4, 10 * 0.6 / 3.4, 10 * 0.4 / 3.4], 1e-12)

    def motor(self, until, resistance, inductance, k, inertia, friction, load):
        """(w, i) by the exponential of the linear equations, from rest."""
        matrix = [[-friction / inertia, k / inertia], [-k / inductance, -resistance / inductance]]
        bottom = friction * resistance + k * k
        steady = [(k * 12 - resistance * load) / bottom, (friction * 12 + k * load) / bottom]
        spread = exponential(matrix, until)
        return [s - row[0] * steady[0] - row[1] * steady[1] for s, row in zip(steady, spread)]

    def test_dc_motor(self):
        for until in (0.05, 1):
            got = run("dc_motor.tact", "--until", until)
            self.assert_close([got["idle.w"], got["idle.i"]], self.motor(until, 2, 0.5, 0.1, 0.02, 0.2, 0))
            self.assert_close([got["loaded.w"], got["loaded.i"]], self.motor(until, 2, 0.01, 0.5, 0.005, 0.01, 0.4))
            self.assert_close([got["fan.w"], got["fan.i"]], self.motor(until, 2, 0.01, 0.5, 0.005, 0.01, 0))
            # Time constants L/R and J/b when k = 0 parts the two.
            self.assert_close(got["coil.i"], 6 * (1 - math.exp(-until / 0.25)))
            self.assert_close(got["coil.w"], 3 * math.exp(-until / 0.1))

    def test_dc_motor_steady_state(self):
        got = run("dc_motor.tact")
        # The slowest pole of the loaded one is near k^2/(R J) = 25 rad/s: e^-28 is left.
        self.assert_close(got["loaded.w"], (0.5 * 12 - 2 * 0.4) / (0.01 * 2 + 0.25), 1e-8)


    def battery_rows(self):
        text = (ROOT / "library" / "battery.csv").read_text().splitlines()
        return [[float(x) for x in line.split(",")] for line in text if line[:1].isdigit()]

    def test_battery_follows_its_table(self):
        # 2.5 A empty 2.5 A h in an hour; at the samples every interpolation has their values.
        for charge, rest, resistance in self.battery_rows():
            if 0.03 <= charge < 1:
                got = run("battery.tact", "--until", repr(3600 * (1 - charge)))
                self.assert_close([got["one.charge"], got["one.v"]], [charge, rest - 2.5 * resistance], 1e-8)
                self.assert_close(got["one.lost"], 6.25 * resistance, 1e-8)

    def test_battery_feeds_a_resistor(self):
        got = run("battery.tact", "--until", 1800)
        # The current is that of rest voltage and both resistances; what it gives is what arrives and what heats it.
        self.assert_close(got["i"], 4 * got["rest"] / (15 + 4 * got["resistance"]), 1e-12)
        self.assert_close(got["work"] + got["heat"], got["inner"], 1e-5)
        rows = self.battery_rows()
        least, most = min(r[1] for r in rows), max(r[1] for r in rows)
        self.assertTrue(0.9 - most * 4 / 15 * 0.5 < got["four.charge"] < 0.9 - least * 4 / 15.28 * 0.5)


class Noise(LibraryTest):
    def test_sampled_noise_is_normal_and_independent(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "noise.csv"
            run("noise.tact", "--out", out, "--show", "a,b,c")
            rows = [[float(x) for x in line.split(",")] for line in out.read_text().splitlines()[1:]]
        a, b, c = ([row[k] for row in rows[:10000]] for k in (1, 2, 3))
        # 10,000 numbers: the mean is within 4/100, the variance within 4 sqrt(2)/100, a correlation within 4/100.
        mean = lambda x: sum(x) / len(x)  # noqa: E731
        self.assert_close(mean(a), 0, 0.04)
        self.assert_close(mean([x * x for x in a]), 1, 0.06)
        self.assert_close(mean([x**4 for x in a]), 3, 0.4)
        self.assert_close(mean([x * y for x, y in zip(a, a[1:])]), 0, 0.04)
        self.assert_close(mean([x * y for x, y in zip(a, c)]), 0, 0.04)
        for x, y in zip(a[:100], b):
            self.assert_close(y, 5 + 3 * x, 1e-5)  # as many digits as the file has
        self.assertGreater(max(a), 3)


class TheLibrary(LibraryTest):
    FILES = sorted((ROOT / "library").glob("*.tact"))

    def modules(self, file):
        return re.findall(r"^module (\w+)", file.read_text(), re.M)

    def test_every_module_is_on_the_page_with_its_ports_and_parameters(self):
        page = (ROOT / "docs" / "library-modules.md").read_text()
        for file in self.FILES:
            self.assertIn(f"## {file.name}\n", page)
            section = page.split(f"## {file.name}\n")[1].split("\n## ")[0]
            rows = {m.group(1): m.group(0) for m in re.finditer(r"^\| `(\w+)` \|.*$", section, re.M)}
            self.assertEqual(list(rows), self.modules(file), file.name)
            for module in re.finditer(r"^module (\w+) = \(\n(.*?)^\)$", file.read_text(), re.M | re.S):
                with self.subTest(module.group(1)):
                    body = re.sub(r"//.*", "", module.group(2))
                    ports = re.search(r"ports ([^;]*);", body).group(1)
                    parameters = re.search(r"parameter ([^;]*);", body).group(1)
                    row = rows[module.group(1)]
                    self.assertIn(f"`{' '.join(ports.split())}`", row)
                    for name in re.findall(r"(\w+) =", parameters):
                        self.assertRegex(row, rf"`{name}\b")

    def test_every_module_is_tried_here(self):
        tried = "".join(file.read_text() for file in PROGRAMS.glob("*.tact"))
        for file in self.FILES:
            for module in self.modules(file):
                with self.subTest(module):
                    self.assertRegex(tried, rf"\b{module}\(")

    def test_every_module_says_what_it_is(self):
        for file in self.FILES:
            text = file.read_text()
            for module in self.modules(file):
                with self.subTest(module):
                    self.assertRegex(text, rf"//[^\n]*\nmodule {module} = ")

    def test_every_program_here_is_run(self):
        mine = pathlib.Path(__file__).read_text()
        for file in PROGRAMS.glob("*.tact"):
            self.assertIn(f'"{file.name}"', mine)

    def test_modules_take_the_units_of_their_arguments(self):
        run("units.tact")
        dump = subprocess.run([TACTUS, "explain", str(PROGRAMS / "units.tact"), "--dump=model"], capture_output=True, text=True, check=True).stdout
        for name, unit in (("s.stored", "J"), ("s.lost", "W"), ("u", "N"), ("smooth_i", "A"), ("b.capacity", "C"), ("PID[1].tf", "s"), ("PID[1].kd", "kg/s")):
            self.assertRegex(dump, rf"(?m)^\w+ {re.escape(name)}: .*\[{re.escape(unit)}\]$")

    def test_units_that_do_not_fit_a_module_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program.tact"
            program.write_text((PROGRAMS / "units.tact").read_text().replace("x0 = 20 [cm]", "x0 = 20 [V]"))
            done = subprocess.run([TACTUS, "check", "--json", str(program)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("C031", {d["code"] for d in json.loads(done.stdout)["diagnostics"]})

    def test_no_default_carries_a_unit(self):
        # One would make every program that uses the module one with units.
        for file in self.FILES:
            for line in file.read_text().splitlines():
                self.assertNotRegex(line.split("//")[0], r"\d \[")

    def test_a_program_may_be_called_as_what_it_uses(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "mechanics.tact"
            program.write_text('use "mechanics.tact"; system s = Spring(1, 3); Mass(x, s.F);')
            self.assert_close(run(program, "--until", 1)["x"], 1)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
