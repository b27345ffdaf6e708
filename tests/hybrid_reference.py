"""The hybrid worlds of examples/, written down once more by hand in plain Python: what tests/hybrid_test.py compares with.

    python3 tests/hybrid_reference.py [WORLD..]     prints what each world does, and checks it against its own conservation laws

Nothing here is shared with the compiler. Flights, rolling on planes, joints with fixed speeds and plans on polynomials are closed
forms; Kepler's orbits are propagated by universal variables (Battin, An Introduction to the Mathematics and Methods of
Astrodynamics, section 4.5); rolling in the canal is the explicit equation of motion with the contact force eliminated by hand; cars
on curves are one equation for the way along the curve. What is integrated is integrated by RK4 with a step that leaves less than
1e-9, and an event is the end of a shortened step, found by bisection.

Each world is a function of its parameters that returns a World: the transitions in order (name, time), the states at the end, and
what was noted at the transitions.
"""
import math
import sys

G = 9.81


class World:
    def __init__(self):
        self.events = []  # (name, time)
        self.notes = []   # (name, time, {..}) where a jump was looked at more closely
        self.final = {}
        self.time = 0.0

    def happens(self, name, time, **note):
        self.events.append((name, time))
        if note:
            self.notes.append((name, time, note))

    def names(self):
        return [name for name, _ in self.events]

    def times(self, name):
        return [time for event, time in self.events if event == name]


# --- vectors, roots, motion -----------------------------------------------------------------------------------------------

def add(a, b, k=1.0):
    """a + k b"""
    return [x + k * y for x, y in zip(a, b)]


def scale(k, a):
    return [k * x for x in a]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def norm(a):
    return math.sqrt(dot(a, a))


def unit(a):
    return scale(1 / norm(a), a)


def first_root(a, b, c, after=1e-9):
    """The least t > after with a t^2 + b t + c = 0, or infinity."""
    if a == 0:
        roots = [-c / b] if b else []
    else:
        under = b * b - 4 * a * c
        if under < 0:
            return math.inf
        q = -(b + math.copysign(math.sqrt(under), b)) / 2
        roots = [q / a] + ([c / q] if q else [])
    return min((t for t in roots if t > after), default=math.inf)


def rk4_step(rate, state, h):
    a = rate(state)
    b = rate([x + h / 2 * k for x, k in zip(state, a)])
    c = rate([x + h / 2 * k for x, k in zip(state, b)])
    d = rate([x + h * k for x, k in zip(state, c)])
    return [x + h / 6 * (i + 2 * j + 2 * k + l) for x, i, j, k, l in zip(state, a, b, c, d)]


def flow(rate, state, time, end, h, guards):
    """RK4 until `end` or until one of the guards {name: function of the state} becomes positive: (state, time, name or None)."""
    while time < end - 1e-12:
        step = min(h, end - time)
        after = rk4_step(rate, state, step)
        if any(guard(after) > 0 for guard in guards.values()):
            low, high = 0.0, step
            for _ in range(60):
                middle = (low + high) / 2
                if any(guard(rk4_step(rate, state, middle)) > 0 for guard in guards.values()):
                    high = middle
                else:
                    low = middle
            state, time = rk4_step(rate, state, high), time + high
            return state, time, next(name for name, guard in guards.items() if guard(state) > 0)
        state, time = after, time + step
    return state, end, None


def solve(matrix, right):
    """Gauss with row pivots."""
    n = len(right)
    rows = [list(row) + [value] for row, value in zip(matrix, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    found = [0.0] * n
    for k in reversed(range(n)):
        found[k] = (rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))) / rows[k][k]
    return found


def newton(residual, guess, iterations=50):
    """A root of `residual`, by Newton's method with central differences and halving."""
    x = list(guess)
    r = residual(x)
    for _ in range(iterations):
        if max(map(abs, r)) < 1e-13:
            break
        columns = []
        for j, value in enumerate(x):
            h = 1e-6 * (1 + abs(value))
            up, down = list(x), list(x)
            up[j] += h
            down[j] -= h
            columns.append([(a - b) / (2 * h) for a, b in zip(residual(up), residual(down))])
        step = solve([list(row) for row in zip(*columns)], r)
        damping = 1.0
        while damping > 1e-6:
            y = add(x, step, -damping)
            s = residual(y)
            if max(map(abs, s)) < max(map(abs, r)) or max(map(abs, s)) < 1e-12:
                break
            damping /= 2
        else:
            break
        x, r = y, s
    if max(map(abs, r)) > 1e-8:
        raise ArithmeticError(f"no root: {r} at {x}")
    return x


# --- impacts of a ball ----------------------------------------------------------------------------------------------------

def coulomb_impact(v, w, n, r, m, inertia, e, mu):
    """Velocity and spin after a ball hits a plane with normal n: restitution e along n; tangentially it sticks if mu allows."""
    slip = add(add(v, n, -dot(v, n)), cross(w, n), -r)
    normal = -(1 + e) * m * dot(v, n)
    stick = scale(-1 / (1 / m + r * r / inertia), slip)
    size = norm(stick)
    tangential = stick if size <= mu * normal else scale(mu * normal / size, stick)
    impulse = add(scale(normal, n), tangential)
    return add(v, impulse, 1 / m), add(w, cross(n, impulse), -r / inertia)


def superball_impact(v, w, n, r, m, inertia):
    """The velocity of the point of contact is turned round: elastic and perfectly rough (Garwin, Am. J. Phys. 37, 88, 1969)."""
    contact = add(v, cross(w, n), -r)
    normal = dot(contact, n)
    slip = add(contact, n, -normal)
    impulse = add(scale(-2 * m * normal, n), scale(-2 / (1 / m + r * r / inertia), slip))
    return add(v, impulse, 1 / m), add(w, cross(n, impulse), -r / inertia)


def ball_energy(p, v, w, m, inertia, g=G):
    return m / 2 * dot(v, v) + inertia / 2 * dot(w, w) + m * g * p[2]


def contact_momentum(v, w, n, r, m, inertia):
    """Angular momentum about the point of contact, which no impulse there can change."""
    return add(scale(inertia, w), cross(n, v), m * r)


# --- bouncing_ball.tact ---------------------------------------------------------------------------------------------------

def bouncing_ball(e=0.7, g=G, height=1.0):
    """Times and heights of all bounces until they cannot be told apart; they add up to the time at which it rests."""
    world = World()
    speed = math.sqrt(2 * g * height)
    time = speed / g
    rest = time * (1 + e) / (1 - e)
    while speed > 1e-12:
        world.happens("Bounce", time, speed=speed)
        speed *= e
        time += 2 * speed / g
    world.final = {"y": 0.0, "y'": 0.0}
    world.time = rest
    return world


# --- ball_on_steps.tact ---------------------------------------------------------------------------------------------------

class Steps:
    m, r, run, rise, slope = 0.2, 0.03, 1.2, 0.15, math.radians(1)
    inertia = 2 / 5 * m * r * r
    tread = run / math.cos(slope)
    s = [math.cos(slope), 0, -math.sin(slope)]
    n = [math.sin(slope), 0, math.cos(slope)]
    start = ([0.1, 0.0, 0.4], [1.0, 0.08, 0.0], [4.0, 0.0, 6.0])  # p, p', w

    @classmethod
    def corner(cls, k):
        return [k * cls.run, 0, -k * (cls.run * math.tan(cls.slope) + cls.rise)]


def ball_on_steps(end=8.0, e=0.6, mu=0.3, threshold=0.002):
    """Flights are parabolas and rolling has a constant acceleration: all roots are those of quadratics."""
    c = Steps
    world = World()
    p, v, w = c.start
    step, time, mode, clearance = 0, 0.0, "Bouncing", math.inf
    normal_force = math.inf
    while True:
        gravity = [0, 0, -G]
        if mode == "Rolling":
            # A solid ball without skidding: 5/7 of what a sliding one has, along the slope.
            a = scale(5 / 7 * dot(gravity, c.s), c.s)
            normal_force = -c.m * dot(gravity, c.n)
        else:
            a = gravity
        offset = add(p, c.corner(step), -1)
        passing = first_root(dot(a, c.s) / 2, dot(v, c.s), dot(offset, c.s) - c.tread)
        hit = first_root(dot(a, c.n) / 2, dot(v, c.n), dot(offset, c.n) - c.r) if mode == "Bouncing" else math.inf
        span = min(passing, hit, end - time)
        edge = add(c.corner(step), c.s, 0) if step == 0 else add(c.corner(step - 1), c.s, c.tread)
        if mode == "Bouncing" and step > 0:
            for k in range(201):
                t = span * k / 200
                q = add(add(p, v, t), a, t * t / 2)
                clearance = min(clearance, math.hypot(q[0] - edge[0], q[2] - edge[2]) - c.r)
        p = add(add(p, v, span), a, span * span / 2)
        v = add(v, a, span)
        if mode == "Rolling":
            # w stays turned to the velocity; the spin about the normal stays.
            w = add(scale(dot(w, c.n), c.n), cross(c.n, v), 1 / c.r)
        time += span
        if span == end - (time - span):
            break
        before = (v, w)
        if passing < hit:
            world.happens("RollOff" if mode == "Rolling" else "Pass", time, p=p, v=v, speed=dot(v, c.s))
            mode, step = "Bouncing", step + 1
            continue
        if c.m / 2 * dot(v, c.n) ** 2 > threshold:
            name = "Bounce"
            v, w = coulomb_impact(v, w, c.n, c.r, c.m, c.inertia, e, mu)
        else:
            # Onto the constraints: no normal velocity, and full grip.
            name, mode = "Land", "Rolling"
            v, w = coulomb_impact(v, w, c.n, c.r, c.m, c.inertia, 0, math.inf)
        world.happens(name, time, p=p, before=before, after=(v, w))
    world.time = time
    world.final = {"p": p, "p'": v, "w": w, "step": step, "mode": mode, "clearance": clearance, "N": normal_force}
    return world


# --- ball_in_box.tact -----------------------------------------------------------------------------------------------------

class Box:
    m, r = 0.1, 0.05
    inertia = 2 / 5 * m * r * r
    half = [0.5, 0.4, 0.35]
    # The inward normals, in the order of the walls of the program.
    walls = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    start = ([0.1, -0.05, 0.1], [1.7, 1.1, 0.6], [12.0, -20.0, 8.0])


def ball_in_box(law, end=3.5, e=0.9, mu=0.25):
    """`law` is smooth, rubbing or super; positions are seen from the middle of the ball's own box."""
    c = Box
    world = World()
    p, v, w = c.start
    time = 0.0
    a = [0, 0, -G]
    while True:
        hits = []
        for k, n in enumerate(c.walls):
            room = dot(p, n) + c.half[k // 2] - c.r
            if room < 1e-12 and dot(v, n) > 0:
                room = 0.0  # just left
            hits.append(first_root(dot(a, n) / 2, dot(v, n), room))
        span = min(*hits, end - time)
        p = add(add(p, v, span), a, span * span / 2)
        v = add(v, a, span)
        time += span
        if span not in hits:
            break
        k = hits.index(span)
        n = c.walls[k]
        before = (v, w)
        if law == "smooth":
            v = add(v, n, -2 * dot(v, n))
        elif law == "rubbing":
            v, w = coulomb_impact(v, w, n, c.r, c.m, c.inertia, e, mu)
        else:
            v, w = superball_impact(v, w, n, c.r, c.m, c.inertia)
        world.happens(k + 1, time, p=p, before=before, after=(v, w))
    world.time = time
    world.final = {"p": p, "p'": v, "w": w}
    return world


# --- ball_in_canal.tact ---------------------------------------------------------------------------------------------------

class Canal:
    m, r, tube, bend, length = 0.2, 0.1, 0.4, 1.2, 1.5
    inertia = 2 / 5 * m * r * r
    rho = tube - r
    order = ["South", "East", "North", "West"]
    # Half a radian up the outer wall, rolling along it and down.
    start = ([0.0, -bend - rho * math.sin(0.5), -rho * math.cos(0.5)], [1.5, 0.0, 0.0])

    @classmethod
    def frame(cls, mode, p, v):
        """Outward normal, its rate, and the direction of the canal at p."""
        if mode in ("South", "North"):
            side = -1 if mode == "South" else 1
            axis = [p[0], side * cls.bend, 0]
            rate = [v[0], 0, 0]
            along = [-side, 0, 0]
        else:
            middle = cls.length if mode == "East" else -cls.length
            x, y = p[0] - middle, p[1]
            far = math.hypot(x, y)
            turning = (x * v[1] - y * v[0]) / far**2
            along = [-y / far, x / far, 0]
            axis = [middle + cls.bend * x / far, cls.bend * y / far, 0]
            rate = scale(cls.bend * turning, along)
        return scale(1 / cls.rho, add(p, axis, -1)), scale(1 / cls.rho, add(v, rate, -1)), along

    @classmethod
    def force(cls, mode, p, v, w):
        """On the ball. v + r w x n = 0 is differentiated, with I w' = r n x F and m v' = m g + F:
        across n, F (1 + m r^2 / I) = -m (g + r w x n'); along n, v . n = 0 gives F = -m (v . n' + g . n)."""
        n, rate, _ = cls.frame(mode, p, v)
        gravity = [0, 0, -G]
        pull = add(gravity, cross(w, rate), cls.r)
        across = add(pull, n, -dot(pull, n))
        normal = -cls.m * (dot(v, rate) + dot(gravity, n))
        return add(scale(normal, n), across, -cls.m / (1 + cls.m * cls.r**2 / cls.inertia)), normal


def ball_in_canal(end=20.0, h=1e-3, speed=1.5):
    c = Canal
    world = World()
    p, v = c.start
    v = scale(speed / norm(v), v)
    mode = "South"
    n, _, _ = c.frame(mode, p, v)
    w = scale(1 / c.r, cross(v, n))  # v + r w x n = 0, without a spin about n
    state, time = [*p, *v, *w], 0.0
    world.least_force = math.inf

    def rate(s):
        p, v, w = s[:3], s[3:6], s[6:]
        force, normal = c.force(mode, p, v, w)
        world.least_force = min(world.least_force, -normal)
        n, _, _ = c.frame(mode, p, v)
        return [*v, *add([0, 0, -G], force, 1 / c.m), *scale(c.r / c.inertia, cross(n, force))]

    guards = {"South": lambda s: s[0] - c.length, "East": lambda s: c.length - s[0] if s[1] > 0 else -1,
              "North": lambda s: -c.length - s[0], "West": lambda s: s[0] + c.length if s[1] < 0 else -1}
    while time < end:
        state, time, passed = flow(rate, state, time, end, h, {mode: guards[mode]})
        if passed:
            mode = c.order[(c.order.index(mode) + 1) % 4]
            world.happens("To" + mode, time, state=state)
    p, v, w = state[:3], state[3:6], state[6:]
    n, _, _ = c.frame(mode, p, v)
    world.time = time
    world.final = {"p": p, "p'": v, "w": w, "mode": mode, "slide": add(v, cross(w, n), c.r)}
    return world


# --- robot_chain.tact, robot_single.tact ----------------------------------------------------------------------------------

class Robot:
    Rt, gauge, r_wheel, v = 2.0, 0.4, 0.1, 1.0
    h, l1, l2, l3, r_ball = 0.5, 0.5, 0.45, 0.12, 0.05
    raised, folded = math.pi / 3, -math.pi / 2
    bent = -math.asin((h - l3 - r_ball) / l2)
    reach = l1 + l2 * math.cos(bent)
    half = math.asin(reach / (2 * Rt))
    t_arm, w_swing, w_grip = 1.5, 1.2, 2.0
    modes = ["Drive", "Swing", "Reach", "Grip", "Lift", "Turn", "Lower", "Release", "Raise", "Return"]


def robot_on_track(end=60.0):
    """Everything is linear in time. The ball is met where the chord to it has the length of the reach: 2 half before it."""
    c = Robot
    world = World()
    track, swing, ball, turned, time = 0.0, -math.pi / 2, 1.5, 0.0, 0.0
    pose = {"shoulder": c.raised, "elbow": c.folded, "grip": 0.0}
    lasts = {"Swing": (math.pi / 2 + c.half) / c.w_swing, "Reach": c.t_arm, "Grip": 1 / c.w_grip, "Lift": c.t_arm,
             "Turn": (math.pi - 2 * c.half) / c.w_swing, "Lower": c.t_arm, "Release": 1 / c.w_grip, "Raise": c.t_arm,
             "Return": (1.5 * math.pi - c.half) / (2 * c.w_swing)}
    mode = "Drive"
    world.happens("Drive", 0.0)
    while True:
        lasts["Drive"] = (ball - 2 * c.half - track) * c.Rt / c.v
        span = min(lasts[mode], end - time)
        part = span / lasts[mode]
        down = {"Reach": 1, "Lower": 1, "Lift": -1, "Raise": -1}.get(mode, 0)
        turn = {"Swing": 1, "Turn": 1, "Return": -2}.get(mode, 0) * c.w_swing * span
        swing += turn
        track += c.v / c.Rt * span if mode == "Drive" else 0
        pose["shoulder"] -= down * part * c.raised
        pose["elbow"] += down * part * (c.bent - c.folded)
        pose["grip"] += {"Grip": 1, "Release": -1}.get(mode, 0) * part
        if mode in ("Lift", "Turn", "Lower", "Release"):
            turned += turn
        time += span
        if span < lasts[mode]:
            break
        if mode == "Release":
            ball += 2 * math.pi - 4 * c.half  # from 2 half ahead to 2 half behind, met again one round later
        mode = c.modes[(c.modes.index(mode) + 1) % 10]
        world.happens(mode, time)
    arm = track + math.pi / 2 + swing
    bend = pose["shoulder"] + pose["elbow"]
    far = c.l1 * math.cos(pose["shoulder"]) + c.l2 * math.cos(bend)
    high = c.h + c.l1 * math.sin(pose["shoulder"]) + c.l2 * math.sin(bend) - c.l3  # the hand points down
    tip = [c.Rt * math.cos(track) + far * math.cos(arm), c.Rt * math.sin(track) + far * math.sin(arm), high]
    held = mode in ("Lift", "Turn", "Lower", "Release")
    world.time = time
    world.final = {"track": track, "swing": swing, **pose, "turned": turned, "tip": tip, "mode": mode,
                   "q": tip if held else [c.Rt * math.cos(ball), c.Rt * math.sin(ball), c.r_ball]}
    return world


# --- dueling_spaceships.tact, dueling_spaceships_free.tact ----------------------------------------------------------------

def kepler(p, v, t, mu):
    """Position and velocity after t on an orbit about the origin: universal variables, Newton's method."""
    if t == 0:
        return list(p), list(v)
    r0, speed2, radial = norm(p), dot(v, v), dot(p, v)
    alpha = 2 / r0 - speed2 / mu
    root = math.sqrt(mu)
    x = root * t * alpha if alpha > 1e-12 else root * t / r0

    def stumpff(z):
        if z > 1e-6:
            s = math.sqrt(z)
            return (1 - math.cos(s)) / z, (s - math.sin(s)) / s**3
        if z < -1e-6:
            s = math.sqrt(-z)
            return (1 - math.cosh(s)) / z, (math.sinh(s) - s) / s**3
        return 1 / 2 - z / 24 + z * z / 720, 1 / 6 - z / 120 + z * z / 5040

    for _ in range(60):
        z = alpha * x * x
        c, s = stumpff(z)
        r = x * x * c + radial / root * x * (1 - z * s) + r0 * (1 - z * c)
        off = x**3 * s + radial / root * x * x * c + r0 * x * (1 - z * s) - root * t
        x -= off / r
        if abs(off / r) < 1e-15 * (1 + abs(x)):
            break
    z = alpha * x * x
    c, s = stumpff(z)
    f, g = 1 - x * x / r0 * c, t - x**3 / root * s
    q = add(scale(f, p), v, g)
    r = norm(q)
    return q, add(scale(root / (r * r0) * x * (z * s - 1), p), v, 1 - x * x / r * c)


class Duel:
    GM, planet = 398.6, 6.4
    ships = {"a": ([10.0, 0.0, 0.0], [0.0, 6.3, 0.0]), "b": ([-9.9, -9.9, 0.0], [3.6, -3.6, 0.8])}
    dock = [0.0, 0.0, 0.05]
    reach = {"a": 6.0, "b": 5.0}
    T = 0.8
    speed = 7.0


def dueling_spaceships(end=25.0, free=False):
    """Both ships and both torpedoes move on Kepler's orbits. A shot is a root of what the torpedo misses by."""
    c = Duel
    world = World()
    world.shots = []  # (ship, fired at, chosen, flight time)
    ship = lambda name, t: kepler(*c.ships[name], t, c.GM)  # noqa: E731
    other = {"a": "b", "b": "a"}

    def apart(t):
        return norm(add(ship("a", t)[0], ship("b", t)[0], -1))

    def shot(name, t):
        (own, own_v), (aim, aim_v) = ship(name, t), ship(other[name], t)
        dock = add(own, c.dock)
        if free:
            way = unit(add(aim, dock, -1))

            def launch(u):
                return [math.cos(u[1]) * math.cos(u[0]), math.cos(u[1]) * math.sin(u[0]), math.sin(u[1])]

            def miss(u):
                q, _ = kepler(dock, add(own_v, launch(u), c.speed), u[2], c.GM)
                return add(q, kepler(aim, aim_v, u[2], c.GM)[0], -1)

            u = newton(miss, [math.atan2(way[1], way[0]), math.asin(way[2]), norm(add(aim, dock, -1)) / c.speed])
            return u, u[2], add(own_v, launch(u), c.speed)
        goal, _ = kepler(aim, aim_v, c.T, c.GM)
        v = newton(lambda v: add(kepler(dock, v, c.T, c.GM)[0], goal, -1), add(aim_v, add(aim, dock, -1), 1 / c.T))
        return v, c.T, v

    flying = {"a": None, "b": None}  # when it hits
    state = {}
    time, step = 0.0, 0.01
    world.lowest = math.inf
    while True:
        for name in ("a", "b"):
            if flying[name] is None and apart(time) < c.reach[name]:
                chosen, lasts, v = shot(name, time)
                state[name] = (add(ship(name, time)[0], c.dock), v, time)
                flying[name] = time + lasts
                world.happens(f"{name}.Fire", time)
                world.shots.append((name, time, chosen, lasts))
                path = [norm(kepler(state[name][0], v, lasts * k / 40, c.GM)[0]) for k in range(41)]
                world.lowest = min(world.lowest, *path)
        ends = [t for t in flying.values() if t is not None]
        limits = [c.reach[n] for n in flying if flying[n] is None]
        until = min([end, *ends])
        found = None
        while limits and time < until:
            after = min(time + step, until)
            if any(apart(after) < limit <= apart(time) for limit in limits):
                low, high = time, after
                for _ in range(60):
                    middle = (low + high) / 2
                    low, high = (low, middle) if any(apart(middle) < limit <= apart(time) for limit in limits) else (middle, high)
                found = time = high
                break
            time = after
        if found is None:
            time = until
            if time >= end:
                break
            for name in ("a", "b"):
                if flying[name] == time:
                    hit, _ = kepler(state[name][0], state[name][1], time - state[name][2], c.GM)
                    world.happens(f"{name}.Fire.phase1", time, miss=norm(add(hit, ship(other[name], time)[0], -1)))
                    flying[name] = None
    world.time = time
    for name in ("a", "b"):
        p, v = ship(name, time)
        q = kepler(state[name][0], state[name][1], time - state[name][2], c.GM)[0] if flying[name] else add(p, c.dock)
        world.final |= {f"s_{name}": p, f"v_{name}": v, f"{name}.p": q, f"{name}.flying": flying[name] is not None}
    return world


# --- slip.tact ------------------------------------------------------------------------------------------------------------

def slip(end=5.0, i=1, j=-2, k=1000.0, m=50.48, g=10.0, start=(0.0, 0.9, 1.0, 0.0), h=2e-4):
    """Seed 003, section 4, with its own spring_derivative; flights are parabolas. q_t = q_l = q_0 = 1."""
    world = World()

    def spring_derivative(q):
        if i == 2 and j == 1:
            return k * (q - 1)
        return k * i / (abs(i) * abs(j)) * (-(q**j - 1) * j / abs(j)) ** (i - 1) * (-abs(j) * q ** (j - 1))

    def potential(q):
        return k / abs(i * j) * (-math.copysign(1, j) * (q**j - 1)) ** i

    x, y, u, v = start
    theta = 0.0
    foot = x + y * math.tan(theta)
    mode = "Decompression"
    time = 0.0

    def energy():
        stands = mode in ("Compression", "Decompression")
        return m / 2 * (u * u + v * v) + m * g * y + potential(math.hypot(x - foot, y) if stands else 1.0)

    def rate(s):
        lx, ly = s[0] - foot, s[1]
        q = math.hypot(lx, ly)
        force = -spring_derivative(q)
        return [s[2], s[3], force * lx / q / m, force * ly / q / m - g]

    world.energies = [energy()]
    while time < end:
        if mode in ("Ascent", "Descent"):
            span = v / g if mode == "Ascent" else first_root(-g / 2, v, y - math.cos(theta))
            short = min(span, end - time)
            x, y, v, time = x + u * short, y + v * short - g / 2 * short**2, v - g * short, time + short
            if short < span:
                break
            if mode == "Descent":
                foot = x + math.sin(theta)
            world.happens("Apex" if mode == "Ascent" else "Touch", time, x=x, y=y)
            mode = "Descent" if mode == "Ascent" else "Compression"
        else:
            guard = ((lambda s: (s[0] - foot) * s[2] + s[1] * s[3]) if mode == "Compression"
                     else (lambda s: math.hypot(s[0] - foot, s[1]) - 1))
            (x, y, u, v), time, passed = flow(rate, [x, y, u, v], time, end, h, {mode: guard})
            if not passed:
                break
            world.happens("Bottom" if mode == "Compression" else "Lift", time, x=x, y=y, q=math.hypot(x - foot, y))
            if mode == "Decompression":
                theta = math.atan2(x - foot, y)
            mode = "Decompression" if mode == "Compression" else "Ascent"
        world.energies.append(energy())
    world.energies.append(energy())
    world.time = time
    world.final = {"p": [x, y], "p'": [u, v], "foot": foot, "theta": theta, "mode": mode}
    return world


# --- car_on_road_network.tact ---------------------------------------------------------------------------------------------

class Roads:
    m, c = 1000.0, 2.0                      # mass, drag for each (m/s)^2
    far, R, H, ramp = 40.0, 20.0, 3.0, math.radians(8)
    pedal, slow, fast = 3000.0, 9.0, 13.0
    following = {"LeftOut": "LeftBack", "LeftBack": "LeftHome", "LeftHome": "Main", "RightOut": "RightUp", "RightUp": "RightDown",
                 "RightDown": "RightHome", "RightHome": "Main"}

    @classmethod
    def roads(cls):
        """Each road as (end of its parameter u, position(u)): u is the way along its plan view, from 0."""
        far, R, H = cls.far, cls.R, cls.H
        tan = math.tan(cls.ramp)

        def arc(x, y, first, turn, rises):
            def place(u):
                angle = first + turn * u / R
                py = y + R * math.sin(angle)
                return [x + R * math.cos(angle), py, H * py / (2 * R) if rises else 0.0]
            return math.pi * R, place

        return {
            "Main": (2 * far, lambda u: [-far + u, 0.0, 0.0]),
            "LeftOut": arc(far, R, -math.pi / 2, 1, True),
            "LeftBack": (2 * far, lambda u: [far - u, 2 * R, H * (1 + math.cos(math.pi * u / (2 * far))) / 2]),
            "LeftHome": arc(-far, R, math.pi / 2, 1, False),
            "RightOut": arc(far, -R, math.pi / 2, -1, False),
            "RightUp": (far, lambda u: [far - u, -2 * R, u * tan]),
            "RightDown": (far, lambda u: [-u, -2 * R, (far - u) * tan]),
            "RightHome": arc(-far, -R, -math.pi / 2, -1, False),
        }

    @classmethod
    def slope(cls, road, u):
        """dz/du."""
        if road == "LeftOut":
            return cls.H / 2 * math.sin(u / cls.R) / cls.R
        if road == "LeftBack":
            return -cls.H / 2 * math.sin(math.pi * u / (2 * cls.far)) * math.pi / (2 * cls.far)
        return {"RightUp": 1, "RightDown": -1}.get(road, 0) * math.tan(cls.ramp)


def car_on_road_network(end=80.0, turn=0, pedal=None, h=2e-3):
    """One equation: the speed v along the road. At a kink the part of the velocity along the new road is left."""
    c = Roads
    thrust = c.pedal if pedal is None else pedal
    world = World()
    road, u, v, time, engine, side = "Main", 0.0, 10.0, 0.0, "Drive", 1
    roads = c.roads()

    def rate(s):
        u, v = s
        slope = c.slope(road, u)
        stretch = math.hypot(1, slope)
        push = thrust if engine == "Drive" else 0
        return [v / stretch, (push - c.c * v * abs(v)) / c.m - G * slope / stretch]

    while time < end:
        length, place = roads[road]
        guards = {"end": lambda s: s[0] - length,
                  "LetGo": lambda s: s[1] - c.fast if engine == "Drive" else -1,
                  "Press": lambda s: c.slow - s[1] if engine == "Coast" else -1}
        (u, v), time, passed = flow(rate, [u, v], time, end, h, guards)
        if passed == "end":
            if road == "Main":
                left = turn > 0.5 or (turn > -0.5 and side > 0)
                after, name = ("LeftOut", "Left") if left else ("RightOut", "Right")
                side = -side
            else:
                after = name = c.following[road]
            bend = math.atan(c.slope(road, length)) - math.atan(c.slope(after, 0))
            world.happens("To" + name if name in roads else name, time, before=v, after=v * math.cos(bend), p=place(length))
            road, u, v = after, 0.0, v * math.cos(bend)
        elif passed:
            world.happens(passed, time, v=v)
            engine = "Coast" if passed == "LetGo" else "Drive"
    world.time = time
    world.final = {"p": roads[road][1](u), "v": v, "road": road, "engine": engine}
    return world


# --- traffic_control.tact -------------------------------------------------------------------------------------------------

class Traffic:
    border, stop, past = 25.0, -12.0, 3.0
    cars = {"a": {"R": 25.0, "v0": 10.0, "s0": -40.0, "side": -1}, "b": {"R": 30.0, "v0": 15.0, "s0": -45.0, "side": 1}}


def traffic_control(end=60.0):
    """Every way is a quadratic in time. To stop at a point takes v^2 / (2 d) and 2 d / v; to start likewise."""
    c = Traffic
    world = World()
    cars = {name: {"s": car["s0"], "v": car["v0"], "a": 0.0, "mode": "Cruise", "until": math.inf} for name, car in c.cars.items()}
    other = {"a": "b", "b": "a"}
    time = 0.0
    world.nearest = math.inf

    def place(name):
        s, R = cars[name]["s"], c.cars[name]["R"]
        return [c.cars[name]["side"] * R * (1 - math.cos(s / R)), R * math.sin(s / R)]

    def inside(name):
        return abs(cars[name]["s"]) <= c.border + 1e-9 and not cars[name].get("left")

    while True:
        spans = [end - time]
        for name, car in cars.items():
            goals = [math.pi * c.cars[name]["R"]]
            if car["mode"] == "Cruise":
                goals.append(-c.border)
            if car["mode"] == "Through":
                goals.append(c.border)
            spans += [first_root(car["a"] / 2, car["v"], car["s"] - goal) for goal in goals if car["s"] < goal - 1e-9 and car["v"] > 0]
            spans.append(car["until"] - time)
        span = min(spans)
        for k in range(21):
            t = span * k / 20
            for car in cars.values():
                car["kept"] = car["s"]
                car["s"] += car["v"] * t + car["a"] / 2 * t * t
            world.nearest = min(world.nearest, math.dist(place("a"), place("b")))
            for car in cars.values():
                car["s"] = car["kept"]
        for car in cars.values():
            car["s"] += car["v"] * span + car["a"] / 2 * span**2
            car["v"] += car["a"] * span
        time += span
        if time >= end - 1e-12:
            break
        moved = True
        while moved:
            moved = False
            for name, car in cars.items():
                v0 = c.cars[name]["v0"]
                car["left"] = car["mode"] == "Cruise" and car["s"] > 0

                def happens(event, mode, acceleration, until=math.inf):
                    world.happens(f"{name}.{event}", time, s=car["s"], v=car["v"])
                    car.update(mode=mode, a=acceleration, until=until)

                if car["s"] >= math.pi * c.cars[name]["R"] - 1e-9:
                    world.happens(f"{name}.Wrap", time)
                    car["s"] -= 2 * math.pi * c.cars[name]["R"]
                elif car["mode"] == "Cruise" and -c.border - 1e-9 <= car["s"] <= 0:
                    if inside(other[name]):
                        way = c.stop - car["s"]
                        happens("Stop", "Slow", -v0**2 / (2 * way), time + 2 * way / v0)
                    else:
                        happens("Enter", "Through", 0.0)
                elif car["mode"] == "Slow" and time >= car["until"] - 1e-9:
                    happens("Stop.phase1", "Wait", 0.0)
                    car["v"] = 0.0
                    happens("Hold", "Wait", 0.0)
                elif car["mode"] == "Wait" and not inside(other[name]):
                    happens("Hold.phase1", "Go", 0.0)
                    way = c.past - car["s"]
                    happens("Start", "Speed", v0**2 / (2 * way), time + 2 * way / v0)
                elif car["mode"] == "Speed" and time >= car["until"] - 1e-9:
                    happens("Start.phase1", "Through", 0.0)
                elif car["mode"] == "Through" and car["s"] >= c.border - 1e-9:
                    happens("Leave", "Cruise", 0.0)
                    car["left"] = True
                else:
                    continue
                moved = True
    world.time = time
    for name, car in cars.items():
        world.final |= {f"{name}.s": car["s"], f"{name}.v": car["v"], f"{name}.mode": car["mode"], f"{name}.p": place(name)}
    return world


# --- stunt_track.tact -----------------------------------------------------------------------------------------------------

class Stunt:
    m, ramp, L, gap, R, x_up, x_far, T_brake = 800.0, math.radians(20), 10.0, 8.0, 15.0, 20.0, 80.0, 2.0
    lip = [x_up + L * math.cos(ramp), 0.0, L * math.sin(ramp)]
    land = [lip[0] + gap, 0.0, lip[2]]
    x_down = land[0] + L * math.cos(ramp)


def stunt_track(end=60.0, v0=8.0):
    """The lip must be left so fast that the range is the gap; all else follows by the work of forces along each piece."""
    c = Stunt
    world = World()
    world.chosen = []
    foot = v0 * math.cos(c.ramp)
    lip = math.sqrt(c.gap * G / math.sin(2 * c.ramp))
    climb = (lip**2 - foot**2) / (2 * c.L)
    bottom = math.sqrt(lip**2 + 2 * G * c.L * math.sin(c.ramp))
    run = bottom * math.cos(c.ramp)
    brake = (v0 - run) / c.T_brake
    braked = c.x_down + (run + v0) / 2 * c.T_brake
    T1, T2 = 2 * c.L / (foot + lip), c.gap / (lip * math.cos(c.ramp))
    falling = G * math.sin(c.ramp)

    def line(origin, way, speed, acceleration):
        return lambda t: (add(origin, way, speed * t + acceleration / 2 * t * t), scale(speed + acceleration * t, way))

    def circle(x, first):
        def at(t):
            angle = first + v0 * t / c.R
            return ([x + c.R * math.cos(angle), c.R + c.R * math.sin(angle), 0.0],
                    [-v0 * math.sin(angle), v0 * math.cos(angle), 0.0])
        return at

    up, down = [math.cos(c.ramp), 0, math.sin(c.ramp)], [math.cos(c.ramp), 0, -math.sin(c.ramp)]
    pieces = [  # mode, how long, motion, transitions at its end
        ("Approach", c.x_up / v0, line([0, 0, 0], [1, 0, 0], v0, 0), ["Jump"]),
        ("Climb", T1, line([c.x_up, 0, 0], up, foot, climb), ["Jump.phase1"]),
        ("Fly", T2, lambda t: (add(add(c.lip, up, lip * t), [0, 0, -G], t * t / 2), add(scale(lip, up), [0, 0, -G], t)), ["Jump.phase2"]),
        ("Descend", (bottom - lip) / falling, line(c.land, down, lip, falling), ["Down", "Brake"]),
        ("Runout", c.T_brake, line([c.x_down, 0, 0], [1, 0, 0], run, brake), ["Brake.phase1"]),
        ("Runout", (c.x_far - braked) / v0, line([braked, 0, 0], [1, 0, 0], v0, 0), ["ToEast"]),
        ("East", math.pi * c.R / v0, circle(c.x_far, -math.pi / 2), ["ToBack"]),
        ("Back", c.x_far / v0, line([c.x_far, 2 * c.R, 0], [-1, 0, 0], v0, 0), ["ToWest"]),
        ("West", math.pi * c.R / v0, circle(0, math.pi / 2), ["ToStart"]),
    ]
    world.chosen = {"Jump.force": c.m * (climb + falling), "Jump.T1": T1, "Jump.T2": T2, "Brake.force": c.m * brake}
    k = 0
    while True:
        mode, lasts, motion, events = pieces[k % len(pieces)]
        span = min(lasts, end - world.time)
        p, v = motion(span)
        world.time += span
        if span < lasts:
            break
        for event in events:
            world.happens(event, world.time, p=p, v=v)
        k += 1
    world.final = {"p": p, "p'": v, "mode": mode, "braked": braked}
    return world


# --- docking_spaceship.tact -----------------------------------------------------------------------------------------------

class Docking:
    GM, rock, go = 150.0, [60.0, -10.0, -30.0], 5.0
    station_1, leave, v_leave = [0.0, 0.0, 0.0], [10.0, 0.0, 0.0], [1.0, 0.0, 0.0]
    station_2, enter, v_enter = [110.0, 70.0, 20.0], [110.0, 60.0, 20.0], [0.0, 1.0, 0.0]
    T_harbour, thrust, cruise = 20.0, 0.2, 3.0
    seeds = {"Trip": [0.5, 0.1, -2.4, 0.0, 12.0, 30.0, 12.0]}


def docking_spaceship(end=120.0):
    """Shooting with RK4: thrusts that grow linearly in the harbours, fixed ones between, and the rock's gravity."""
    c = Docking
    world = World()
    world.chosen = {}

    def fly(p, v, u, slope, lasts, n):
        def rate(s):
            away = add(s[:3], c.rock, -1)
            pull = -c.GM / norm(away) ** 3
            return [*s[3:6], *[pull * x + a + b * s[6] for x, a, b in zip(away, u, slope)], 1.0]

        s = [*p, *v, 0.0]
        for _ in range(n):
            s = rk4_step(rate, s, lasts / n)
        return s[:3], s[3:6]

    def heading(az, el):
        return [math.cos(el) * math.cos(az), math.cos(el) * math.sin(az), math.sin(el)]

    def harbour(p, v, goal, v_goal):
        def miss(x):
            q, w = fly(p, v, x[:3], x[3:], c.T_harbour, 80)
            return add(q, goal, -1) + add(w, v_goal, -1)
        return newton(miss, [0.0] * 6)

    def trip(p, v, x):
        T1, T2, T3 = x[4:]
        first = fly(p, v, scale(c.thrust, heading(*x[:2])), [0] * 3, T1, 60)
        second = fly(*first, [0] * 3, [0] * 3, T2, 150)
        third = fly(*second, scale(c.thrust, heading(*x[2:4])), [0] * 3, T3, 60)
        return first, second, third

    still = [0.0, 0.0, 0.0]
    out = harbour(c.station_1, still, c.leave, c.v_leave)
    world.chosen["Undock"] = out
    at_exit = fly(c.station_1, still, out[:3], out[3:], c.T_harbour, 80)

    def miss(x):
        first, _, third = trip(*at_exit, x)
        return [norm(first[1]) - c.cruise, *add(third[0], c.enter, -1), *add(third[1], c.v_enter, -1)]

    x = newton(miss, c.seeds["Trip"])
    world.chosen["Trip"] = x
    first, second, third = trip(*at_exit, x)
    home = harbour(*third, c.station_2, still)
    world.chosen["Dock"] = home
    docked = fly(*third, home[:3], home[3:], c.T_harbour, 80)
    time = c.go
    world.happens("Undock", time)
    for name, lasts, after, state in [("Undock.phase1", c.T_harbour, "Trip", at_exit), ("Trip.phase1", x[4], None, first),
                                      ("Trip.phase2", x[5], None, second), ("Trip.phase3", x[6], "Dock", third),
                                      ("Dock.phase1", c.T_harbour, None, docked)]:
        time += lasts
        world.happens(name, time, p=state[0], v=state[1])
        if after:
            world.happens(after, time)
    world.time = end
    world.final = {"p": c.station_2, "arrives": time}
    return world


# --- the references' own laws ---------------------------------------------------------------------------------------------

def check_ball_on_steps():
    c, world = Steps, ball_on_steps()
    p, v, w = c.start
    energy = ball_energy(p, v, w, c.m, c.inertia)
    for name, _, note in world.notes:
        if "before" in note:
            (v0, w0), (v1, w1) = note["before"], note["after"]
            before, after = (ball_energy(note["p"], *pair, c.m, c.inertia) for pair in (note["before"], note["after"]))
            assert abs(before - energy) < 1e-12 and after < before, name  # kept in flight and in rolling, lost in impacts
            turned = add(contact_momentum(v1, w1, c.n, c.r, c.m, c.inertia), contact_momentum(v0, w0, c.n, c.r, c.m, c.inertia), -1)
            assert norm(turned) < 1e-15, name
            energy = after
        else:
            assert dot(note["v"], note["v"]) > G * c.r, "tips over the edge"
    assert world.final["clearance"] > -1e-12
    return world


def check_ball_in_box():
    c = Box
    for law in ("smooth", "rubbing", "super"):
        world = ball_in_box(law)
        for wall, _, note in world.notes:
            before, after = (ball_energy(note["p"], *pair, c.m, c.inertia) for pair in (note["before"], note["after"]))
            assert after < before if law == "rubbing" else abs(after - before) < 1e-14, (law, wall)
            n = c.walls[wall - 1]
            turned = [contact_momentum(*note[key], n, c.r, c.m, c.inertia) for key in ("before", "after")]
            assert norm(add(turned[1], turned[0], -1)) < 1e-15, (law, wall)
        assert all(abs(x) <= half - c.r + 1e-12 for x, half in zip(world.final["p"], c.half))
    return world


def check_ball_in_canal():
    c, world = Canal, ball_in_canal()
    p, v, w = (world.final[key] for key in ("p", "p'", "w"))
    n, _, _ = c.frame(world.final["mode"], p, v)
    start = 7 / 10 * c.m * 1.5**2 + c.m * G * c.start[0][2]
    assert abs(ball_energy(p, v, w, c.m, c.inertia) - start) < 1e-10
    assert abs(norm(n) - 1) < 1e-9 and norm(world.final["slide"]) < 1e-9 and world.least_force > 0
    return world


def check_robot():
    world = robot_on_track()
    for name in ("Lift", "Raise"):
        for time in world.times(name):
            before, after = robot_on_track(time - 1e-10).final, robot_on_track(time + 1e-10).final
            assert norm(add(before["q"], after["q"], -1)) < 1e-9 and norm(add(before["tip"], before["q"], -1)) < 1e-9
    return world


def check_duel():
    for free in (False, True):
        world = dueling_spaceships(free=free)
        assert world.lowest > Duel.planet
        assert all(note["miss"] < 1e-11 for _, _, note in world.notes)
        for name, (p, v) in Duel.ships.items():
            q, w = world.final[f"s_{name}"], world.final[f"v_{name}"]
            assert abs(dot(w, w) / 2 - Duel.GM / norm(q) - dot(v, v) / 2 + Duel.GM / norm(p)) < 1e-12
            assert norm(add(cross(q, w), cross(p, v), -1)) < 1e-12
    return world


def check_slip():
    world = slip()
    assert max(world.energies) - min(world.energies) < 1e-9
    assert all(abs(note["q"] - 0.9) < 1e-12 for name, _, note in world.notes if name == "Bottom")
    return world


def check_roads():
    world, roads = car_on_road_network(), Roads.roads()
    for before, after in [*Roads.following.items(), ("Main", "LeftOut"), ("Main", "RightOut")]:
        assert norm(add(roads[before][1](roads[before][0]), roads[after][1](0), -1)) < 1e-12, (before, after)
        for u in (0.1, 0.5, 0.9):  # the slopes are those of the curves
            s = u * roads[after][0]
            rise = (roads[after][1](s + 1e-5)[2] - roads[after][1](s - 1e-5)[2]) / 2e-5
            assert abs(rise - Roads.slope(after, s)) < 1e-9, after
    assert all(note["after"] <= note["before"] for _, _, note in world.notes if "before" in note)
    return world


def check_traffic():
    world = traffic_control()
    assert world.nearest > 8
    for name, _, note in world.notes:
        if name.endswith("Stop.phase1"):
            assert abs(note["s"] - Traffic.stop) < 1e-9 and abs(note["v"]) < 1e-9
        if name.endswith("Start.phase1"):
            assert abs(note["s"] - Traffic.past) < 1e-9
    return world


def check_stunt():
    world = stunt_track()
    for name, _, note in world.notes:
        if name == "Jump.phase2":
            assert norm(add(note["p"], Stunt.land, -1)) < 1e-12
            assert abs(note["v"][2] / note["v"][0] + math.tan(Stunt.ramp)) < 1e-12  # along the down-ramp
    return world


def check_docking():
    world, c = docking_spaceship(), Docking
    targets = {"Undock.phase1": (c.leave, c.v_leave), "Trip.phase3": (c.enter, c.v_enter), "Dock.phase1": (c.station_2, [0, 0, 0])}
    for name, _, note in world.notes:
        if name in targets:
            assert norm(add(note["p"], targets[name][0], -1)) < 1e-10 and norm(add(note["v"], targets[name][1], -1)) < 1e-10
    return world


def check_bouncing_ball():
    world = bouncing_ball()
    assert abs(world.events[-1][1] - world.time) < 1e-9  # the times converge to the sum of the series
    return world


CHECKS = {"bouncing_ball": check_bouncing_ball, "ball_on_steps": check_ball_on_steps, "ball_in_box": check_ball_in_box,
          "ball_in_canal": check_ball_in_canal, "robot": check_robot, "dueling_spaceships": check_duel, "slip": check_slip,
          "car_on_road_network": check_roads, "traffic_control": check_traffic, "stunt_track": check_stunt,
          "docking_spaceship": check_docking}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or CHECKS:
        done = CHECKS[chosen]()
        print(f"{chosen}: {len(done.events)} transitions until {done.time:g}, {done.final}")
