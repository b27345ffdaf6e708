#!/usr/bin/env python3
"""What `tactus check` proves of the worlds of seed 002, of slip and of bouncing_ball: the verdict of each pair, as a table.

    proofs_test.py PATH_OF_TACTUS

The pairs that are asked about, and what is expected of them, are worked out here from the names of transitions alone: which of them
go to modes of one automaton or say what one name is next, and which of those can hold at one point.
"""
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest

TACTUS = sys.argv.pop(1) if len(sys.argv) > 1 else "tactus"
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")


def among(*names):
    """Each of them with each other."""
    return list(itertools.combinations(names, 2))


def between(first, second):
    return list(itertools.product(first, second))


def of_plan(name, phases):
    """What a plan's own automaton is told by: each of its jumps excludes each other."""
    return among(name, f"{name}.failed", f"{name}.rearmed", *(f"{name}.phase{k + 1}" for k in range(phases)))


def exclusive(pairs):
    return {frozenset(pair): "exclusive" for pair in pairs}


def overlap(pairs):
    return {frozenset(pair): "overlap" for pair in pairs}


def ball_in_box(corners):
    """In each of three boxes six walls and three laws. Walls 1 and 2, 3 and 4, 5 and 6 face each other. All say what p' is next;
    in an edge of the box two of one law hold at once, unless the guards say which of them comes first. The laws are modes."""
    table = {}
    for ball in ("smooth", "rubbing", "super"):
        jumps = [(law, k) for law in ("Bounce", "Rub", "Spring") for k in range(1, 7)]
        for (law, k), (other, l) in among(*jumps):
            meet = law == other and (k - 1) // 2 != (l - 1) // 2
            table[frozenset((f"{ball}.{law}[{k}]", f"{ball}.{other}[{l}]"))] = corners if meet else "exclusive"
    return table


def traffic_control():
    """Two cars. Stop, Enter, Hold's end, Start and Leave drive `mode`."""
    table = {}
    for car in "ab":
        modes = ["Stop", "Stop.phase1", "Enter", "Hold.phase1", "Start", "Start.phase1", "Leave"]
        table |= exclusive(among(*(f"{car}.{name}" for name in modes)))
        table |= exclusive(of_plan(f"{car}.Stop", 1) + of_plan(f"{car}.Start", 1))
        table |= exclusive([(f"{car}.Hold", f"{car}.Hold.phase1")])
    return table


def dueling():
    return exclusive(of_plan("a.Fire", 1) + of_plan("b.Fire", 1))


# Where the car goes is one automaton, and the engine's force is set by both plans: Jump begins while Brake is idle.
STUNT_MODES = ["Jump", "Jump.phase1", "Jump.phase2", "Down", "ToEast", "ToBack", "ToWest", "ToStart"]
STUNT = exclusive(among(*STUNT_MODES) + of_plan("Jump", 2) + of_plan("Brake", 1) +
                  between(["Jump", "Jump.phase1"], ["Brake", "Brake.phase1"]))
# Without that, nothing but time keeps the end of Brake from Jump: T_brake is at most 2.5 s, and the next jump is farther away than
# that, which no guard says.
STUNT_AT_ONCE = STUNT | overlap(between(["Jump", "Jump.phase1"], ["Brake.phase1"]))

DOCKING_MODES = ["Undock", "Undock.phase1", "Trip", "Trip.phase1", "Trip.phase2", "Trip.phase3", "Dock", "Dock.phase1"]

ROADS = ["Left", "Right", "ToLeftBack", "ToLeftHome", "ToRightUp", "ToRightDown", "ToRightHome", "ToMain"]

ROBOT = ["DriveOn", "SwingOut", "ReachDown", "CloseHand", "LiftUp", "TurnRound", "LowerDown", "OpenHand", "RaiseUp", "SwingBack"]

EXPECTED = {
    "ball_on_steps": exclusive([("Land", "RollOff"), ("RollOff", "Pass")]),
    "robot_body": {},  # the parts of the robot; the two below move them
    "robot_chain": exclusive(among("Lap", *(f"Lap.phase{k}" for k in range(1, 11)))),
    "robot_single": exclusive(among(*(part for name in ROBOT for part in (name, f"{name}.phase1")))),
    "dueling_spaceships": dueling(),
    "dueling_spaceships_free": dueling(),
    "ball_in_box": ball_in_box("exclusive"),
    "ball_in_box, any wall first": ball_in_box("overlap"),
    "ball_in_canal": exclusive(among("ToEast", "ToNorth", "ToWest", "ToSouth")),
    "car_on_road_network": exclusive(among(*ROADS) + [("LetGo", "Press")]),
    "traffic_control": traffic_control(),
    "stunt_track": STUNT,
    "stunt_track, both at once": STUNT_AT_ONCE,
    "docking_spaceship": exclusive(among(*DOCKING_MODES) + of_plan("Undock", 1) + of_plan("Trip", 3) + of_plan("Dock", 1)),
    "slip": exclusive(among("Apex", "Touch", "Bottom", "Lift")),
    "bouncing_ball": {},  # one transition
}


# Examples without what keeps their guards apart.
LOOSER = {
    "ball_in_box, any wall first": ("ball_in_box", " && comes_first(k, gap, gap')"),
    "stunt_track, both at once": ("stunt_track", " && Brake.Idle"),
}


def check(path, *words):
    return subprocess.run([TACTUS, "check", path, *words], capture_output=True, text=True, timeout=60)


def check_named(name, *words):
    """An example, or one of LOOSER."""
    if name not in LOOSER:
        return check(os.path.join(EXAMPLES, name + ".tact"), *words)
    example, left_out = LOOSER[name]
    with open(os.path.join(EXAMPLES, example + ".tact")) as file:
        text = file.read()
    assert left_out in text, name
    with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
        file.write(text.replace(left_out, ""))
        file.flush()
        return check(file.name, *words)


class Verdicts(unittest.TestCase):
    found = {}

    def verdicts(self, name):
        if name not in self.found:
            done = check_named(name, "--json")
            told = json.loads(done.stdout)
            pairs = {frozenset((p["first"]["name"], p["second"]["name"])): p for p in told.get("guards", [])}
            self.assertEqual(len(pairs), len(told.get("guards", [])), name)
            self.assertEqual(done.returncode, 3 if any(p["verdict"] == "overlap" for p in pairs.values()) else 0, done.stderr)
            self.found[name] = pairs
        return self.found[name]

    def test_each_pair(self):
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                told = {pair: row["verdict"] for pair, row in self.verdicts(name).items()}
                self.assertEqual(told, expected)

    def test_an_overlap_comes_with_a_point_that_fulfils_both_guards(self):
        seen = 0
        for pair, row in self.verdicts("ball_in_box, any wall first").items():
            if row["verdict"] != "overlap":
                continue
            seen += 1
            at = row["witness"]
            for side in ("first", "second"):
                name = row[side]["name"]
                ball, k = name.split(".")[0], int(name[-2])
                axis, out = (k + 1) // 2, -1 if k % 2 else 1
                # The way to a wall is along one axis, so only a velocity into it enables.
                self.assertGreater(out * at[f"{ball}.p'[{axis}]"], 0, (name, at))
        self.assertEqual(seen, 108)

    def test_nine_of_ten_are_decided(self):
        every = [row["verdict"] for name in EXPECTED for row in self.verdicts(name).values()]
        self.assertGreater(len(every), 900)
        decided = sum(verdict in ("exclusive", "overlap") for verdict in every)
        self.assertGreaterEqual(10 * decided, 9 * len(every), f"{decided} of {len(every)}")

THROW = """
simulation ending_time = 10
automaton ball in Held, Thrown, Fallen;
automaton lamp in Off, On;
boundary p with p(0) = (0, 0);  wind(0) = 0;  light(0) = 0;  n(0) = 0;
external sky reads gust
system
  in !ball.Thrown { p' = (0, 0); }
  in ball.Thrown  { p'' = (wind, -9.81); }
  wind' = 0;  light' = 0;  n' = 0;
  event go at 1;
  transition Gust in ball.Thrown when gust > 1 && wind < 0.5 { next(wind) = 1; }
  transition Calm when t > 3 && wind > 0.5 { next(wind) = 0; }
  transition Switch in lamp.Off when t > 1.2 { goto lamp.On;  next(light) = 5; }
  transition Still in ball.Held when t > 8 && n < 1 { next(n) = 1;  next(wind) = 0; }
  transition Drop in ball.Thrown when p[2] < -9 { goto ball.Fallen; }
  plan Throw in ball.Held when go
    choose v = (3, 8) { goto ball.Thrown;  next(p') = v; }
    for 1.5 reaching p = (6, 1) { goto ball.Held; }
"""


class Interference(unittest.TestCase):
    """What a plan's targets depend on, and which transitions change it while the plan runs."""

    def plans(self, done):
        return {plan["name"]: plan for plan in json.loads(done.stdout)["plans"]}

    def example(self, name):
        return self.plans(check_named(name, "--json"))

    def causes(self, plan):
        return {cause["name"]: cause["changes"] for cause in plan["interfering"]}

    def test_a_small_model(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tact") as file:
            file.write(THROW)
            file.flush()
            throw = self.plans(check(file.name, "--json"))["Throw"]
            text = check(file.name).stdout
        self.assertEqual(throw["line"], 17)
        # The wind blows on the ball; a lamp does not; Still is of a mode that the ball is not in while it flies.
        self.assertEqual(self.causes(throw), {"Gust": ["wind"], "Calm": ["wind"], "Drop": ["ball"]})
        self.assertEqual(throw["harmless"], ["Switch"])
        self.assertEqual(throw["depends_on"], ["p", "p'", "wind"])
        # What an input does is not known when the plan is made.
        self.assertEqual({c["name"]: c["foreseen"] for c in throw["interfering"]}, {"Gust": False, "Calm": True, "Drop": True})
        self.assertIn("plan Throw: 3 transitions could interfere", text)
        self.assertIn("in phase 1 changes wind; the search does not foresee it", text)

    def test_ships_do_not_disturb_each_other(self):
        for name in ("dueling_spaceships", "dueling_spaceships_free"):
            plans = self.example(name)
            self.assertEqual(set(plans), {"a.Fire", "b.Fire"})
            for own, other in (("a", "b"), ("b", "a")):
                fire = plans[f"{own}.Fire"]
                self.assertEqual(fire["interfering"], [], name)
                # The other torpedo flies meanwhile, or not.
                self.assertIn(f"{other}.Fire", fire["harmless"])
                self.assertIn(f"{own}.p", fire["depends_on"])
                self.assertIn("s2" if own == "a" else "s1", fire["depends_on"])
                self.assertNotIn(f"{other}.p", fire["depends_on"])

    def test_the_engine_of_the_stunt_car(self):
        self.assertEqual(self.causes(self.example("stunt_track")["Jump"]), {})
        plans = self.example("stunt_track, both at once")
        self.assertEqual(set(plans), {"Jump", "Brake"})
        # Brake's end takes the engine's force away, should it come while the car climbs; in flight it does not matter.
        jump = self.causes(plans["Jump"])
        self.assertEqual(jump, {"Brake.phase1": ["push"]})
        self.assertEqual(plans["Jump"]["interfering"][0]["phases"], [1])
        # Braking ends in the curve if it is late: the road is another, and so is the velocity along it.
        brake = self.causes(plans["Brake"])
        self.assertIn("car", brake["ToEast"])
        self.assertIn("push", brake["Jump"])
        self.assertFalse({c["name"]: c["foreseen"] for c in plans["Brake"]["interfering"]}["Jump"])

    def test_nothing_disturbs_the_docking(self):
        plans = self.example("docking_spaceship")
        self.assertEqual(set(plans), {"Undock", "Trip", "Dock"})
        for plan in plans.values():
            self.assertEqual(plan["interfering"], [])
            self.assertLessEqual({"p", "p'", "u"}, set(plan["depends_on"]))


if __name__ == "__main__":
    unittest.main()
