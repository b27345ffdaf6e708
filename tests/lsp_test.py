"""The language server as an editor meets it: `tactus lsp` as a child process, real framing, every feature, every kind of bad
message. Each answer is held against the shapes of the protocol (3.17).

    python3 tests/lsp_test.py build/bin/tactus [TEST..]
"""
import json
import os
import pathlib
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TACTUS = ""
SECONDS = 60

PROGRAM = """\
simulation ending_time = 10 step_size = 0.001
external hand reads u
constant g = 9.81, corner = (1, 2 * 3);
parameter k = 4 [N/m] in 0..50;   // größe 😀
function spring(q, stiffness) = -stiffness * q;
boundary
  x with x(0) = 1, x'(0) = 0;
system
  m * x'' = spring(x, k) - m * g + u;
  m = 2;
  total = sum(i in 1..3: i * x);
"""

MODULES = """\
constant reach = 3;
automaton ball in Bouncing, Rolling;
module Leg = (
  ports r : 3, ref;
  parameter k_r = 500;
  automaton foot in Flight, Stance;
  system
    F = k_r * ref * reach;
    in foot.Stance { v = 0; }
)
mechanism arm ( body upper mass 1; joint shoulder revolute from world to upper; )
system
  leg[i in 1..6] = Leg(p, i, k_r = 2);
  s = leg[2].F + if leg[1].foot.Stance then 1 else 0;
  transition Bounce in ball.Bouncing when s <= 0 { unknown J; next(s) = J; goto ball.Rolling; }
  torque = arm.shoulder.torque;
reactive
  bounces = init n = 0 in { Bounce => n + 1 }
scene
  text "n = {bounces}" at p;
"""

HYBRID = """\
simulation ending_time = 10
automaton ball in Held, Thrown from Held;
boundary p with p(0) = (0, 0);  step(0) = 0;
system
  in ball.Held   { p' = (0, 0); }
  in ball.Thrown { p'' = (0, -9.81); }
  step' = 0;
  event go at 1;
  transition Catch in ball.Thrown when p[2] < -9 { unknown J; goto ball.Held; next(step) = step + J; J = 1; }
  sequence Wait in ball.Held when step > 2 { keep step; }
    until since(start) >= 1.5 { next(step) = at(start, step); }
  plan Throw in ball.Held when go
    choose v = (3, 8) { goto ball.Thrown;  next(p') = v; }
    for 1.5 reaching p = (6, 1) { goto ball.Held; }
    else { }
check
  there: Throw.phase1 -> distance(p, (6, 1)) < 1e-6;
  ends:  go -> eventually[0..2](ball.Held);
"""

CAPABILITIES = {"textDocument": {
    "completion": {"completionItem": {"snippetSupport": True}},
    "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
    "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    "hover": {"contentFormat": ["markdown", "plaintext"]}}}


class Client:
    """A server and the messages it sent."""

    def __init__(self, folder, environment, words=()):
        self.process = subprocess.Popen([TACTUS, "lsp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        cwd=folder, env=dict(os.environ, **environment))
        self.inbox = queue.Queue()
        self.kept = []
        self.next_id = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.process.stdout
        while True:
            header = b""
            while not header.endswith(b"\r\n\r\n"):
                byte = stream.read(1)
                if not byte:
                    self.inbox.put(None)
                    return
                header += byte
            length = re.fullmatch(rb"Content-Length: (\d+)\r\n\r\n", header)
            assert length, header
            self.inbox.put(json.loads(stream.read(int(length.group(1))).decode("utf-8")))

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def wait(self, wanted):
        """The first message for which wanted(message); others are kept."""
        for i, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(i)
        while True:
            message = self.inbox.get(timeout=SECONDS)
            if message is None:
                raise EOFError(self.process.stderr.read().decode())
            assert message["jsonrpc"] == "2.0"
            if wanted(message):
                return message
            self.kept.append(message)

    def notify(self, method, params=None):
        self.send({"jsonrpc": "2.0", "method": method, "params": params if params is not None else {}})

    def start(self, method, params=None):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return self.next_id

    def answer(self, identity):
        return self.wait(lambda m: "method" not in m and m.get("id") == identity)

    def ask(self, method, params=None):
        reply = self.answer(self.start(method, params))
        assert set(reply) == {"jsonrpc", "id", "result"}, reply
        return reply["result"]

    def fail(self, method, params=None):
        reply = self.answer(self.start(method, params))
        assert set(reply) == {"jsonrpc", "id", "error"}, reply
        assert isinstance(reply["error"]["code"], int) and isinstance(reply["error"]["message"], str)
        return reply["error"]


class Served(unittest.TestCase):
    capabilities = CAPABILITIES
    environment = {}
    options = None  # initializationOptions

    def words(self):
        """Of the command line, behind `lsp`."""
        return ()

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tactus_lsp_"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.client = Client(self.folder, self.environment, self.words())
        self.addCleanup(self.end)
        self.texts = {}
        self.initialize()

    def end(self):
        if self.client.process.poll() is None:
            self.client.process.kill()
        self.client.process.wait()
        for stream in (self.client.process.stdin, self.client.process.stdout, self.client.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def initialize(self):
        told = self.client.ask("initialize", {"processId": None, "rootUri": None, "capabilities": self.capabilities,
                                              "initializationOptions": self.options})
        self.server = told["capabilities"]
        self.assertEqual(told["serverInfo"]["name"], "tactus")
        self.client.notify("initialized")

    def uri(self, name="a.tact"):
        return (self.folder / name).as_uri()

    def open(self, text, name="a.tact", version=1):
        self.texts[name] = text
        self.client.notify("textDocument/didOpen", {"textDocument": {"uri": self.uri(name), "languageId": "tactus",
                                                                     "version": version, "text": text}})

    def diagnostics(self, name="a.tact", version=None):
        """The next ones about the file, of that version."""
        def about(message):
            return (message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == self.uri(name)
                    and (version is None or message["params"].get("version") == version))
        listed = self.client.wait(about)["params"]["diagnostics"]
        for one in listed:
            self.check_range(one["range"])
            self.assertIn(one["severity"], (1, 2, 3, 4))
            self.assertRegex(one["code"], r"^[A-Z]\d{3}$")
            self.assertEqual(one["source"], "tactus")
            self.assertIsInstance(one["message"], str)
            for related in one.get("relatedInformation", []):
                self.check_range(related["location"]["range"])
        return listed

    def check_range(self, value):
        self.assertEqual(set(value), {"start", "end"})
        for end in value.values():
            self.assertEqual(set(end), {"line", "character"})
            self.assertGreaterEqual(end["line"], 0)
            self.assertGreaterEqual(end["character"], 0)
        self.assertLessEqual((value["start"]["line"], value["start"]["character"]),
                             (value["end"]["line"], value["end"]["character"]))

    def place(self, needle, name="a.tact", occurrence=0, shift=0):
        """Position (UTF-16) of the occurrence-th needle; a | in the needle marks the spot."""
        mark = needle.find("|") if "|" in needle else 0
        bare = needle.replace("|", "", 1)
        text, at = self.texts[name], -1
        for _ in range(occurrence + 1):
            at = text.index(bare, at + 1)
        at += mark + shift
        line = text.count("\n", 0, at)
        column = text[text.rfind("\n", 0, at) + 1:at]
        return {"line": line, "character": len(column.encode("utf-16-le")) // 2}

    def at(self, needle, name="a.tact", **more):
        return {"textDocument": {"uri": self.uri(name)}, "position": self.place(needle, name, **more)}

    def text_in(self, value, name="a.tact"):
        self.check_range(value)
        lines = self.texts[name].split("\n")
        def offset(p):
            before = "".join(line + "\n" for line in lines[:p["line"]])
            units = lines[p["line"]].encode("utf-16-le")[:2 * p["character"]] if p["line"] < len(lines) else b""
            return len(before) + len(units.decode("utf-16-le"))
        return self.texts[name][offset(value["start"]):offset(value["end"])]

    def apply(self, edits, name="a.tact"):
        text = self.texts[name]
        lines = text.split("\n")
        def offset(p):
            before = sum(len(line) + 1 for line in lines[:p["line"]])
            return before + len((lines[p["line"]] if p["line"] < len(lines) else "").encode("utf-16-le")[:2 * p["character"]]
                                .decode("utf-16-le"))
        for edit in sorted(edits, key=lambda e: -offset(e["range"]["start"])):
            begin, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
            text = text[:begin] + edit["newText"] + text[end:]
        return text

    def labels(self, needle, **more):
        told = self.client.ask("textDocument/completion", self.at(needle, **more))
        self.assertIsInstance(told["isIncomplete"], bool)
        for item in told["items"]:
            self.assertIsInstance(item["label"], str)
            self.assertIn(item["kind"], range(1, 26))
        return {item["label"]: item for item in told["items"]}


class Life(Served):
    def test_capabilities(self):
        for name in ["hoverProvider", "definitionProvider", "referencesProvider", "documentSymbolProvider",
                     "documentFormattingProvider", "foldingRangeProvider"]:
            self.assertEqual(self.server[name], True, name)
        self.assertEqual(self.server["positionEncoding"], "utf-16")
        self.assertEqual(self.server["textDocumentSync"]["change"], 2)
        self.assertEqual(self.server["renameProvider"], {"prepareProvider": True})

    def test_shutdown_then_exit(self):
        self.assertIsNone(self.client.ask("shutdown"))
        self.assertEqual(self.client.fail("textDocument/hover", {})["code"], -32600)
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(timeout=SECONDS), 0)

    def test_exit_without_shutdown(self):
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(timeout=SECONDS), 1)

    def test_the_end_of_the_stream_ends_it(self):
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(timeout=SECONDS), 1)

    def test_initialize_comes_once(self):
        self.assertEqual(self.client.fail("initialize", {"capabilities": {}})["code"], -32600)


class NotInitialized(Served):
    def initialize(self):
        pass

    def test_other_requests_are_refused(self):
        self.assertEqual(self.client.fail("textDocument/hover", {})["code"], -32002)
        self.client.notify("textDocument/didOpen", {"textDocument": 3})  # dropped
        self.client.ask("initialize", {"capabilities": {}})

    def test_strange_capabilities(self):
        self.client.ask("initialize", {"capabilities": {"general": 7, "textDocument": {"hover": []}}, "processId": "x"})

    def test_wrong_initialize(self):
        self.assertEqual(self.client.fail("initialize", [1])["code"], -32602)


class Utf8(Served):
    capabilities = {"general": {"positionEncodings": ["utf-8", "utf-16"]}}

    def test_columns_are_bytes(self):
        self.assertEqual(self.server["positionEncoding"], "utf-8")
        self.open('system\n  größe = 1; /* 😀 */ y = größe;\n')
        told = self.client.ask("textDocument/references", {
            "textDocument": {"uri": self.uri()}, "position": {"line": 1, "character": 3}, "context": {"includeDeclaration": True}})
        starts = [one["range"]["start"]["character"] for one in told]
        line = '  größe = 1; /* 😀 */ y = größe;'
        self.assertEqual(starts, [2, len(line[:line.rindex("größe")].encode())])


class Diagnostics(Served):
    def test_come_and_go(self):
        self.open("system\n  x' = -x;\n  y = ;\n")
        [one] = self.diagnostics(version=1)
        self.assertEqual((one["code"], one["severity"]), ("P003", 1))
        self.assertEqual(one["range"]["start"]["line"], 2)
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 2, "character": 6}, "end": {"line": 2, "character": 7}}, "text": "1;"}]})
        self.assertEqual([d["code"] for d in self.diagnostics(version=2) if d["severity"] == 1], [])
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": 3},
                                                      "contentChanges": [{"text": "system z' = w;"}]})
        self.assertEqual([d["code"] for d in self.diagnostics(version=3) if d["severity"] == 1], ["S002"])
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri()}})
        self.assertEqual(self.diagnostics(), [])

    def test_hints_and_related_places(self):
        self.open("constant a = 1;\nconstant a = 2;\nsystem\n  x' = a == 1;\n")
        self.assertTrue(any("hint: " in d["message"] and d["data"]["hints"] for d in self.diagnostics()))
        self.open("constant a = 1;\nconstant a = 2;\nsystem\n  x' = a;\n", name="b.tact")
        [twice] = [d for d in self.diagnostics("b.tact") if d["code"] == "C002" or "relatedInformation" in d]
        self.assertEqual(twice["relatedInformation"][0]["location"]["uri"], self.uri("b.tact"))
        self.assertEqual(twice["relatedInformation"][0]["location"]["range"]["start"]["line"], 0)

    def test_typing_does_not_queue_up(self):
        self.open("system\n")
        text = "system\n"
        for version in range(2, 202):
            text += f"  x{version}' = -x{version};\n"
            self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": version},
                                                          "contentChanges": [{"text": text}]})
        self.diagnostics(version=201)
        seen = [m for m in self.client.kept if m.get("method") == "textDocument/publishDiagnostics"]
        self.assertLess(len(seen), 100)

    def test_save_and_versions_of_two_files(self):
        self.open("system x' = 1;")
        self.open("system y = ;", name="b.tact", version=7)
        self.assertEqual(self.diagnostics("b.tact", version=7)[0]["code"], "P003")
        self.client.notify("textDocument/didSave", {"textDocument": {"uri": self.uri()}})
        self.diagnostics()

    def test_a_text_that_is_none(self):
        self.open("system x\u0000 = 1;")
        self.assertEqual(self.diagnostics()[0]["code"], "F006")
        self.open("\ufeffsystem\n  y = ;", name="b.tact")
        [one] = self.diagnostics("b.tact")
        self.assertEqual(one["range"]["start"]["line"], 1)

    def test_every_program_of_the_repository(self):
        """All features on all texts: whatever stands there, answers come and have their shape."""
        paths = sorted(p for p in [*ROOT.glob("examples/**/*"), *ROOT.glob("src/**/testdata/**/*")]
                       if p.suffix in {".tact", ".phydl", ".ridl"})
        self.assertGreater(len(paths), 80)
        for path in paths:
            name = f"{path.stem}{path.suffix}"
            self.open(path.read_text(encoding="utf-8"), name=name)
            document = {"textDocument": {"uri": self.uri(name)}}
            for one in self.client.ask("textDocument/documentSymbol", document):
                self.check_symbol(one)
            for fold in self.client.ask("textDocument/foldingRange", document):
                self.assertLess(fold["startLine"], fold["endLine"])
            data = self.client.ask("textDocument/semanticTokens/full", document)["data"]
            self.assertEqual(len(data) % 5, 0)
            lines = self.texts[name].split("\n")
            for number in range(0, len(lines), 7):
                where = {**document, "position": {"line": number, "character": len(lines[number]) // 2}}
                for method in ["hover", "completion", "definition"]:
                    self.client.ask(f"textDocument/{method}", where)
            self.diagnostics(name)

    def check_symbol(self, one):
        self.assertTrue(one["name"])
        self.check_range(one["range"])
        self.check_range(one["selectionRange"])
        start = lambda r: (r["start"]["line"], r["start"]["character"])
        end = lambda r: (r["end"]["line"], r["end"]["character"])
        self.assertLessEqual(start(one["range"]), start(one["selectionRange"]))
        self.assertGreaterEqual(end(one["range"]), end(one["selectionRange"]))
        for child in one.get("children", []):
            self.check_symbol(child)

    def test_phydl_and_ridl_are_one_program(self):
        (self.folder / "ball.ridl").write_text("crosses = init 0 in { clock => x }\n")
        self.open("boundary p(0) = 1; system p' = 1;", name="ball.phydl")
        self.diagnostics("ball.phydl")


class Hover(Served):
    def setUp(self):
        super().setUp()
        self.open(PROGRAM)
        self.diagnostics()

    def shown(self, needle, **more):
        told = self.client.ask("textDocument/hover", self.at(needle, **more))
        if told is None:
            return None
        self.assertEqual(told["contents"]["kind"], "markdown")
        return told["contents"]["value"], self.text_in(told["range"])

    def test_parameters_constants_and_their_values(self):
        text, name = self.shown("spring(x, |k)")
        self.assertEqual(name, "k")
        self.assertIn("parameter `k`, a scalar", text)
        self.assertIn("= 4", text)
        self.assertIn("parameter k = 4 [N/m] in 0..50", text)
        text, _ = self.shown("corner")
        self.assertIn("a vector of 2, = (1, 6)", text)

    def test_names_inside_modules_have_shapes_and_units(self):
        self.open("""module Spring = ( ports x, F; parameter k = 4 [N/m]; system F = -k * x; change = F'; )
boundary p(0) = 1 [m];
system p' = pull / 3 [N*s/m];  s = Spring(p, pull);  leg[i in 1..2] = Spring(p, q[i], k = i);
""", name="b.tact")
        self.diagnostics("b.tact")
        told = self.client.ask("textDocument/hover", self.at("-|k * x", name="b.tact"))["contents"]["value"]
        self.assertIn("parameter `k`, a scalar, in N/m", told)
        told = self.client.ask("textDocument/hover", self.at("|change = F'", name="b.tact"))["contents"]["value"]
        self.assertIn("`change`, a scalar, in kg*m/s^3", told)

    def test_roles_of_variables(self):
        self.assertIn("state `x`", self.shown("m * |x''")[0])
        self.assertIn("variable that is constant `m`, a scalar, in kg, = 2", self.shown("|m * x''")[0])
        self.assertIn("input of `hand`", self.shown("g + |u")[0])
        self.assertIn("m = 2", self.shown("|m * x''")[0])

    def test_functions_words_and_nothing(self):
        self.assertIn("function `spring(q, stiffness)`", self.shown("= |spring(x")[0])
        self.assertIn("sum(i in 1..n: e)", self.shown("|sum(")[0])
        self.assertIn("values at the start", self.shown("bound|ary")[0])
        self.assertIn("argument `q`", self.shown("* |q;")[0])
        self.assertIn("newton", self.shown("[|N/m]")[0])
        self.assertIsNone(self.shown("9.8|1"))

    def test_behind_astral_characters(self):
        line = PROGRAM.split("\n")[3]
        self.texts["a.tact"] = PROGRAM.replace("// größe 😀", "/* 😀 */ constant w = 1;")
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": 2},
                                                      "contentChanges": [{"text": self.texts["a.tact"]}]})
        self.assertIn("😀", line)
        self.assertEqual(self.shown("constant |w")[1], "w")


class Hybrid(Served):
    """Automata, modes, transitions, sequences and plans, as they are written and under the cursor."""

    def setUp(self):
        super().setUp()
        self.open(HYBRID)
        self.assertEqual([d for d in self.diagnostics() if d["severity"] == 1], [])

    def shown(self, needle, **more):
        told = self.client.ask("textDocument/hover", self.at(needle, **more))
        return told and told["contents"]["value"]

    def test_hover(self):
        self.assertIn("automaton `ball`", self.shown("in |ball.Thrown {"))
        self.assertIn("automaton ball in Held, Thrown", self.shown("in |ball.Thrown {"))
        self.assertIn("mode `Thrown`", self.shown("in ball.|Thrown {"))
        self.assertIn("transition `Catch`", self.shown("transition |Catch"))
        self.assertIn("sequence `Wait`", self.shown("sequence |Wait"))
        self.assertIn("plan `Throw`", self.shown("|Throw.phase1"))
        self.assertIn("choose v = (3, 8)", self.shown("plan |Throw"))
        self.assertIn("event `go`", self.shown("when |go"))
        self.assertIn("`J`", self.shown("unknown |J"))
        self.assertIn("`v`", self.shown("next(p') = |v;"))
        self.assertIn("after", self.shown("|next(step) = step"))

    def test_hover_of_words(self):
        for word in ("automaton", "transition", "sequence", "plan", "goto", "keep", "unknown", "choose", "reaching", "until"):
            self.assertIn(word, self.shown(f"|{word} ") or "", word)

    def test_definitions(self):
        for needle, line in (("goto ball.|Thrown", 1), ("|Throw.phase1", 11), ("when |go", 7), ("next(p') = |v;", 12)):
            told = self.client.ask("textDocument/definition", self.at(needle))
            told = told[0] if isinstance(told, list) else told
            self.assertEqual(told["range"]["start"]["line"], line, needle)

    def edited(self, old, new, needle):
        """What is offered while `new` stands where `old` stood."""
        text = HYBRID.replace(old, new, 1)
        name = f"b{len(self.texts)}.tact"
        self.open(text, name=name)
        return self.labels(needle, name=name)

    def test_modes_behind_goto_and_in(self):
        self.assertEqual(set(self.labels("goto ball.|Thrown;")), {"Held", "Thrown"})
        self.assertEqual(set(self.labels("Catch in ball.|Thrown")), {"Held", "Thrown"})
        self.assertIn("ball", self.labels("plan Throw in |ball"))
        self.assertEqual(set(self.edited("step > 2", "ball.", "when ball.| {")), {"Held", "Thrown"})

    def test_inside_a_jump(self):
        found = self.labels("next(step) = |step + J")
        for name in ("step", "J", "p", "next"):
            self.assertIn(name, found)
        for word in ("goto", "keep", "enforce", "unknown"):
            for before, text in (("unknown J; ", "goto ball.Held; next(step)"), ("{ ", "next(step) = at(")):
                begun = before + word[:1] + "\n "
                self.assertIn(word, self.edited(before + text, begun + text, before + word[:1] + "|\n"))
        self.assertNotIn("goto", self.edited("  step' = 0;\n", "  step' = 0;\n  g\n", "  g|\n"))
        self.assertIn("v", self.labels("next(p') = |v;"))

    def test_phases_and_events(self):
        self.assertEqual(set(self.edited("Throw.phase1 ->", "Throw. ->", "Throw.| ->")),
                         {"phase1", "failed", "Idle", "Phase1", "Failed"})
        self.assertEqual(set(self.edited("go -> eventually", "Wait. -> eventually", "Wait.| ->")), {"phase1", "Idle", "Phase1"})
        found = self.labels("ends:  |go ->")
        for name in ("go", "Catch", "Wait", "Throw", "ball", "always", "eventually"):
            self.assertIn(name, found)

    def test_words_of_a_system(self):
        for word in ("automaton", "transition", "sequence", "plan", "event"):
            found = self.edited("  step' = 0;\n", f"  step' = 0;\n  {word[:2]}\n", f"  {word[:2]}|\n")
            self.assertIn(word, found)


class Completion(Served):
    def test_names_in_scope_and_functions_with_snippets(self):
        self.open(PROGRAM)
        self.diagnostics()
        found = self.labels("- m * |g")
        for name in ["x", "m", "g", "k", "u", "spring", "sin", "t", "if"]:
            self.assertIn(name, found)
        self.assertNotIn("q", found)
        self.assertEqual(found["spring"]["insertText"], "spring(${1:q}, ${2:stiffness})$0")
        self.assertEqual(self.labels("|spring(x")["clamp"]["insertText"], "clamp(${1:x}, ${2:low}, ${3:high})$0")
        self.assertIn("stiffness", self.labels("-|stiffness * q"))
        self.assertIn("i", self.labels("i * |x);"))

    def test_units_inside_brackets(self):
        self.open(PROGRAM)
        found = self.labels("[|N/m]")
        self.assertIn("kg", found)
        self.assertNotIn("x", found)
        self.assertNotIn("sin", found)
        self.assertIn("mm", self.labels("[N/|m]"))

    def test_members(self):
        self.open(MODULES)
        self.assertEqual(set(self.labels("in ball.|Bouncing")), {"Bouncing", "Rolling"})
        self.assertTrue({"F", "foot", "k_r"} <= set(self.labels("leg[2].|F")))
        self.assertTrue({"Flight", "Stance"} <= set(self.labels("leg[1].foot.|Stance")))
        self.assertTrue({"upper", "shoulder", "q"} <= set(self.labels("arm.|shoulder")))
        self.assertTrue({"angle", "torque"} <= set(self.labels("arm.shoulder.|torque")))

    def test_while_a_member_is_being_written(self):
        self.open("automaton ball in Up, Down;\nsystem\n  x = ball.\n")
        self.assertEqual(set(self.labels("ball.|\n")), {"Up", "Down"})

    def test_phases_of_sequences_and_plans(self):
        self.open("system\n  sequence Lap { } until a { } until b { }\n  plan Fire choose v = 1 { } for 2 reaching x = v { } else { }\n"
                  "  for i in 1..2 { y[i] = 1; }\n  x = Lap.\n  z = Fire.\n")
        self.assertEqual(set(self.labels("Lap.|\n")), {"phase1", "phase2", "Idle", "Phase1", "Phase2"})
        self.assertEqual(set(self.labels("Fire.|\n")), {"phase1", "failed", "Idle", "Phase1", "Failed"})

    def test_behind_enforce(self):
        self.open("system\n  transition T { enforce v\n")
        self.assertEqual(set(self.labels("enforce v|\n")), {"velocities"})

    def test_words_by_section(self):
        self.open("sy\nsimulation sol\nsystem\n  tr\n")
        self.assertIn("system", self.labels("sy|\n"))
        self.assertIn("solver", self.labels("sol|\n"))
        self.assertIn("transition", self.labels("tr|\n"))
        self.assertNotIn("transition", self.labels("sy|\n"))
        self.open("simulation solver = r\n", name="b.tact")
        self.assertIn("rk4", self.labels("= r|", name="b.tact"))
        self.open("scene\n  s\n", name="c.tact")
        self.assertIn("sphere", self.labels("  s|", name="c.tact"))

    def test_nothing_in_comments_and_texts(self):
        self.open('system\n  x = 1; // si\n  y = 2; /* si */\n  require x > 0 else "si";\n')
        for needle in ["// si|", "/* si|", '"si|']:
            self.assertEqual(self.labels(needle), {}, needle)

    def test_module_bodies_see_little_of_the_file(self):
        self.open(MODULES)
        found = self.labels("F = |k_r")
        self.assertIn("reach", found)
        self.assertIn("ref", found)
        self.assertNotIn("s", found)
        self.assertNotIn("ball", found)


class Names(Served):
    def found(self, method, needle, name="a.tact", **more):
        told = self.client.ask(f"textDocument/{method}", {**self.at(needle, name, **more), "context": {"includeDeclaration": True}})
        if told is None:
            return None
        told = told if isinstance(told, list) else [told]
        return [(one["range"]["start"]["line"], self.text_in(one["range"], name)) for one in told]

    def test_definitions(self):
        self.open(PROGRAM)
        self.assertEqual(self.found("definition", "spring(x, |k)"), [(3, "k")])
        self.assertEqual(self.found("definition", "|spring(x"), [(4, "spring")])
        self.assertEqual(self.found("definition", "|m * x''"), [(9, "m")])
        self.assertEqual(self.found("definition", "m * |x''"), [(6, "x")])
        self.assertEqual(self.found("definition", "|i * x"), [(10, "i")])
        self.assertEqual(self.found("definition", "|stiffness * q"), [(4, "stiffness")])
        self.assertIsNone(self.found("definition", "|sum("))
        self.assertIsNone(self.found("definition", "9.8|1"))

    def test_paths_lead_into_modules(self):
        self.open(MODULES)
        self.assertEqual(self.found("definition", "leg[2].|F"), [(7, "F")])
        self.assertEqual(self.found("definition", "leg[1].|foot"), [(5, "foot")])
        self.assertEqual(self.found("definition", "leg[1].foot.|Stance"), [(5, "Stance")])
        self.assertEqual(self.found("definition", "ball.|Bouncing"), [(1, "Bouncing")])
        self.assertEqual(self.found("definition", "|k_r = 2"), [(4, "k_r")])
        self.assertEqual(self.found("definition", "= |Leg("), [(2, "Leg")])
        self.assertEqual(self.found("definition", "arm.|shoulder"), [(10, "shoulder")])
        self.assertEqual(self.found("definition", "{|bounces}"), [(17, "bounces")])

    def test_references(self):
        self.open(MODULES)
        self.assertEqual([line for line, _ in self.found("references", "F = |k_r")], [4, 7, 12])
        self.assertEqual([line for line, _ in self.found("references", "Bounce => |n")], [17, 17])
        self.assertEqual([line for line, _ in self.found("references", "|reach = 3")], [0, 7])
        self.assertEqual([line for line, _ in self.found("references", "|J;")], [14, 14])
        without = self.client.ask("textDocument/references", {**self.at("|reach = 3"), "context": {"includeDeclaration": False}})
        self.assertEqual(len(without), 1)
        self.assertEqual(len(self.client.ask("textDocument/documentHighlight", self.at("|reach = 3"))), 2)

    def test_shadowed_names_are_apart(self):
        self.open("constant q = 1;\nfunction f(q) = q + 1;\nsystem\n  y = f(q) + sum(q in 1..2: q) + q;\n")
        self.assertEqual([line for line, _ in self.found("references", "constant |q")], [0, 3, 3])
        self.assertEqual([line for line, _ in self.found("references", "f(|q) =")], [1, 1])
        self.assertEqual([line for line, _ in self.found("references", "sum(|q")], [3, 3])

    def test_rename(self):
        self.open(MODULES)
        told = self.client.ask("textDocument/prepareRename", self.at("|bounces = init"))
        self.assertEqual((told["placeholder"], self.text_in(told["range"])), ("bounces", "bounces"))
        edit = self.client.ask("textDocument/rename", {**self.at("|bounces = init"), "newName": "hits"})
        changed = self.apply(edit["changes"][self.uri()])
        self.assertEqual(changed, MODULES.replace("bounces", "hits"))
        edit = self.client.ask("textDocument/rename", {**self.at("|k_r = 500"), "newName": "stiff"})
        self.assertEqual(self.apply(edit["changes"][self.uri()]), MODULES.replace("k_r", "stiff"))

    def test_rename_keeps_the_program(self):
        self.open(PROGRAM)
        edit = self.client.ask("textDocument/rename", {**self.at("m * |x''"), "newName": "höhe"})
        changed = self.folder / "changed.tact"
        changed.write_text(self.apply(edit["changes"][self.uri()]), encoding="utf-8")
        (self.folder / "before.tact").write_text(PROGRAM, encoding="utf-8")
        blocks = [subprocess.run([TACTUS, "explain", name, "--dump=blocks"], cwd=self.folder, capture_output=True, text=True,
                                 check=True).stdout for name in ("before.tact", "changed.tact")]
        self.assertEqual(blocks[1], re.sub(r"\bx\b", "höhe", blocks[0]))

    def test_what_is_not_renamed(self):
        self.open(PROGRAM)
        for needle, says in [("|sum(", "belongs to the language"), ("bound|ary", "word of the language"), ("9.8|1", "no name"),
                             ("|ending_time", "not a name of this program")]:
            error = self.client.fail("textDocument/prepareRename", self.at(needle))
            self.assertEqual(error["code"], -32803)
            self.assertIn(says, error["message"])
        for name, says in [("2x", "not a name"), ("", "not a name"), ("a b", "not a name"), ("system", "word of the language"),
                           ("pi", "belongs to"), ("k", "already a parameter"), ("m", "already a variable"), ("_x", "not a name")]:
            error = self.client.fail("textDocument/rename", {**self.at("m * |x''"), "newName": name})
            self.assertIn(says, error["message"], name)
        error = self.client.fail("textDocument/rename", {**self.at("|k = 4"), "newName": "x"})
        self.assertIn("already", error["message"])

    def test_used_files(self):
        (self.folder / "lib.tact").write_text("constant far = 7;\nmodule Wheel = ( ports w; system v = w; )\n")
        self.open('use "lib.tact" as lib;\nsystem\n  a = lib.Wheel(x);\n  b = lib.far;\n')
        told = self.client.ask("textDocument/definition", self.at("lib.|Wheel"))
        self.assertEqual(told["uri"], self.uri("lib.tact"))
        self.assertEqual(told["range"]["start"], {"line": 1, "character": 7})
        self.assertIn("rename it there", self.client.fail("textDocument/prepareRename", self.at("lib.|far"))["message"])
        self.assertTrue({"far", "Wheel"} <= set(self.labels("lib.|far")))


ENERGIES = """\
simulation ending_time = 10
module Spring = (
  boundary q(0) = 0;
  system q' = v;  F = q;
  energy H = q^2 / 2;
  power end: v -> F;
)
module Mass = (
  boundary p(0) = 2;
  system p' = F;  v = p / 2;
  energy H = p^2 / 4;
  power end: F -> v;
)
boundary x(0) = 1;  y(0) = 0;
system
  storage (x, y) energy E = (x^2 + y^2) / 2 structure J = ((0, 1), (-1, 0));
  a = Spring() rate 1 [kHz];
  b = Mass() rate 20 [Hz];
  join a.end to b.end passive;
  guard a.end reserve 0.2;
"""


class Energies(Served):
    """Energies, ports, storages, rates, joins and guards under the cursor."""

    def setUp(self):
        super().setUp()
        self.open(ENERGIES)
        self.assertEqual([d for d in self.diagnostics() if d["severity"] == 1], [])

    def shown(self, needle, **more):
        told = self.client.ask("textDocument/hover", self.at(needle, **more))
        return told and told["contents"]["value"]

    def test_hover_of_words(self):
        for word in ("energy", "power", "storage", "structure", "rate", "join", "passive", "guard", "reserve"):
            self.assertTrue(self.shown(f"|{word};" if word == "passive" else f"|{word} "), word)

    def test_definitions_and_renaming_of_ports(self):
        told = self.client.ask("textDocument/definition", self.at("join a.|end"))
        told = told[0] if isinstance(told, list) else told
        self.assertEqual(told["range"]["start"]["line"], 5)
        edit = self.client.ask("textDocument/rename", {**self.at("power |end: v"), "newName": "tip"})
        self.assertEqual(self.apply(edit["changes"][self.uri()]),
                         ENERGIES.replace("end: v", "tip: v").replace("a.end", "a.tip"))

    def test_words_and_members_are_offered(self):
        found = self.labels("  |join a.end")
        for word in ("energy", "power", "storage", "join", "guard"):
            self.assertIn(word, found)
        self.assertIn("end", self.labels("guard a.|end"))

    def test_words_are_coloured_as_words(self):
        legend = self.server["semanticTokensProvider"]["legend"]["tokenTypes"]
        data = self.client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": self.uri()}})["data"]
        line, column, seen = 0, 0, set()
        for i in range(0, len(data), 5):
            line, column = line + data[i], (column if data[i] == 0 else 0) + data[i + 1]
            seen.add((ENERGIES.split("\n")[line][column:column + data[i + 2]], legend[data[i + 3]]))
        for word in ("energy", "power", "storage", "structure", "rate", "join", "passive", "guard", "reserve"):
            self.assertIn((word, "keyword"), seen, word)


class Outline(Served):
    def test_symbols(self):
        self.open(MODULES)
        told = self.client.ask("textDocument/documentSymbol", {"textDocument": {"uri": self.uri()}})
        names = {one["name"]: one for one in told}
        self.assertTrue({"reach", "ball", "Leg", "arm", "leg", "s", "Bounce", "bounces"} <= set(names))
        inside = {one["name"] for one in names["Leg"]["children"]}
        self.assertEqual(inside, {"r", "ref", "k_r", "foot", "F", "v"})
        self.assertEqual(names["Leg"]["range"]["start"]["line"], 2)
        self.assertEqual(names["Leg"]["range"]["end"]["line"], 9)

    def test_folds(self):
        self.open(MODULES + "/* a\n b */\n")
        told = self.client.ask("textDocument/foldingRange", {"textDocument": {"uri": self.uri()}})
        ranges = {(one["startLine"], one["endLine"]) for one in told}
        self.assertIn((2, 8), ranges)      # the module
        self.assertIn((11, 15), ranges)    # system
        self.assertIn({"startLine": 20, "endLine": 21, "kind": "comment"}, told)

    def test_semantic_tokens(self):
        self.open("constant g = 1;\nsystem\n  x' = g * sin(x);\n")
        legend = self.server["semanticTokensProvider"]["legend"]["tokenTypes"]
        data = self.client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": self.uri()}})["data"]
        line, column, seen = 0, 0, []
        for i in range(0, len(data), 5):
            line, column = line + data[i], (column if data[i] == 0 else 0) + data[i + 1]
            seen.append((self.texts["a.tact"].split("\n")[line][column:column + data[i + 2]], legend[data[i + 3]]))
        self.assertEqual(seen[:3], [("constant", "keyword"), ("g", "variable"), ("system", "keyword")])
        self.assertIn(("sin", "function"), seen)


class Formatting(Served):
    def test_edits_give_what_the_command_gives(self):
        for path in sorted(ROOT.glob("src/compiler/parse/testdata/**/*.tact")):
            text = path.read_text(encoding="utf-8")
            wanted = subprocess.run([TACTUS, "format", "--stdout", str(path)], capture_output=True, text=True, check=False)
            self.open(text, name=path.name)
            params = {"textDocument": {"uri": self.uri(path.name)}, "options": {"tabSize": 2, "insertSpaces": True}}
            if wanted.returncode != 0:
                self.assertEqual(self.client.fail("textDocument/formatting", params)["code"], -32803)
                continue
            edits = self.client.ask("textDocument/formatting", params)
            self.assertEqual(self.apply(edits, path.name), wanted.stdout, path)

    def test_only_what_changes_is_edited(self):
        self.open("system\n  a = 1;\n  b=2;\n  c = 3;\n")
        [edit] = self.client.ask("textDocument/formatting", {"textDocument": {"uri": self.uri()}, "options": {}})
        self.assertEqual((edit["range"]["start"]["line"], edit["range"]["end"]["line"]), (2, 3))
        self.texts["a.tact"] = "x"
        self.open("system\n", name="b.tact")
        self.assertEqual(self.client.ask("textDocument/formatting", {"textDocument": {"uri": self.uri("b.tact")}, "options": {}}), [])


class Changes(Served):
    def test_increments_are_applied_in_order(self):
        self.open("constant a = 1;\nsystem\n  x' = a;\n")
        def place(line, character):
            return {"line": line, "character": character}
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": 2}, "contentChanges": [
            {"range": {"start": place(0, 9), "end": place(0, 10)}, "text": "😀"},
            {"range": {"start": place(0, 9), "end": place(0, 11)}, "text": "bb"},
            {"range": {"start": place(99, 0), "end": place(99, 0)}, "text": "  y = bb;\n"},
            {"range": {"start": place(2, 7), "end": place(2, 8)}, "text": "bb"}]})
        self.texts["a.tact"] = "constant bb = 1;\nsystem\n  x' = bb;\n  y = bb;\n"
        told = self.client.ask("textDocument/references", {**self.at("constant |bb"), "context": {"includeDeclaration": True}})
        self.assertEqual([self.text_in(one["range"]) for one in told], ["bb"] * 3)
        self.assertEqual([one["range"]["start"]["line"] for one in told], [0, 2, 3])

    def test_random_edits_agree_with_a_full_text(self):
        import random
        random.seed(3)
        text = PROGRAM
        self.open(text)
        for version in range(2, 60):
            lines = text.split("\n")
            def pick():
                line = random.randrange(len(lines))
                return line, random.randrange(len(lines[line]) + 1)
            (l1, c1), (l2, c2) = sorted([pick(), pick()])
            if random.random() < 0.7:
                l2, c2 = l1, min(len(lines[l1]), c1 + random.randrange(4))
            new = random.choice(["", "x", "\n", "ä😀", " = 1;\n", "(", "}"])
            def offset(line, column):
                return sum(len(one) + 1 for one in lines[:line]) + column
            def units(line, column):
                return len(lines[line][:column].encode("utf-16-le")) // 2
            self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": version}, "contentChanges": [
                {"range": {"start": {"line": l1, "character": units(l1, c1)}, "end": {"line": l2, "character": units(l2, c2)}},
                 "text": new}]})
            text = text[:offset(l1, c1)] + new + text[offset(l2, c2):]
        self.open(text, name="full.tact")
        ask = lambda name: self.client.ask("textDocument/semanticTokens/full", {"textDocument": {"uri": self.uri(name)}})
        self.assertEqual(ask("a.tact"), ask("full.tact"))


class BadMessages(Served):
    def alive(self):
        self.open("system x' = 1;", name="alive.tact")
        self.assertIsNotNone(self.client.ask("textDocument/hover", {"textDocument": {"uri": self.uri("alive.tact")},
                                                                     "position": {"line": 0, "character": 2}}))

    def unasked_error(self):
        return self.client.wait(lambda m: "error" in m and m["id"] is None)["error"]["code"]

    def test_malformed_json(self):
        for body in [b"{", b"", b"nonsense", b"{\"jsonrpc\":\"2.0\",}", b"\xff\xfe", b"[" * 100000, b"\"\\ud800\""]:
            self.client.send(body)
            self.assertEqual(self.unasked_error(), -32700, body[:20])
        self.alive()

    def test_not_a_request(self):
        for message in [[], 3, "x", None, [{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}], {}, {"method": 3},
                        {"id": {"a": 1}, "method": "shutdown"}, {"id": None, "method": "shutdown"}]:
            self.client.send(json.dumps(message).encode())
            self.assertEqual(self.unasked_error(), -32600, message)
        self.client.send({"jsonrpc": "2.0", "id": 99, "result": None})  # an answer to nothing: ignored
        self.client.send({"jsonrpc": "2.0", "id": "seven", "method": "textDocument/nothing"})
        self.assertEqual(self.client.answer("seven")["error"]["code"], -32601)
        self.alive()

    def test_unknown_methods(self):
        for method in ["foo", "textDocument/foo", "workspace/symbol", "$/foo", "initialize/x", ""]:
            self.assertEqual(self.client.fail(method, {})["code"], -32601, method)
        self.client.notify("foo/bar", {"a": 1})
        self.client.notify("$/setTrace", {"value": "off"})
        self.alive()

    def test_wrong_parameters(self):
        self.open(PROGRAM)
        document = {"uri": self.uri()}
        good = {"textDocument": document, "position": {"line": 0, "character": 0}}
        for params in [None, [], 3, {}, {"textDocument": 1}, {"textDocument": {"uri": 5}}, {"textDocument": {"uri": "file:///no"}},
                       {"textDocument": document}, {"textDocument": document, "position": []},
                       {"textDocument": document, "position": {"line": -1, "character": 0}},
                       {"textDocument": document, "position": {"line": "1", "character": 0}},
                       {"textDocument": document, "position": {"line": 1e300, "character": 0}}]:
            for method in ["hover", "completion", "definition", "references", "rename", "prepareRename"]:
                self.assertEqual(self.client.fail(f"textDocument/{method}", params)["code"], -32602, (method, params))
        self.assertEqual(self.client.fail("textDocument/rename", good)["code"], -32602)
        self.assertEqual(self.client.fail("textDocument/rename", {**good, "newName": "y"})["code"], -32803)
        self.assertEqual(self.client.fail("textDocument/rename", {**self.at("|g = 9"), "newName": 5})["code"], -32602)
        for method in ["documentSymbol", "foldingRange", "formatting", "semanticTokens/full"]:
            self.assertEqual(self.client.fail(f"textDocument/{method}", {"textDocument": []})["code"], -32602, method)
        for params in [{}, [], {"textDocument": document}, {"textDocument": document, "contentChanges": 3},
                       {"textDocument": document, "contentChanges": [3]}, {"textDocument": document, "contentChanges": [{"range": 1, "text": ""}]},
                       {"textDocument": {"uri": "file:///none"}, "contentChanges": []}]:
            self.client.notify("textDocument/didChange", params)
            self.client.notify("textDocument/didClose", {"textDocument": {"uri": "file:///none"}})
            self.client.notify("textDocument/didOpen", {"textDocument": {"uri": 3}})
        huge = {"textDocument": document, "position": {"line": 2147483647, "character": 2147483647}}
        self.assertIsNone(self.client.ask("textDocument/hover", huge))
        self.alive()

    def test_headers(self):
        body = json.dumps({"jsonrpc": "2.0", "id": "h", "method": "textDocument/nothing"}).encode()
        self.client.raw(b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:  %d \r\n\r\n%s" % (len(body), body))
        self.assertEqual(self.client.answer("h")["error"]["code"], -32601)
        for header in [b"Content-Length: abc\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Foo: bar\r\n\r\n", b"rubbish\r\n\r\n",
                       b"Content-Length:\r\n\r\n"]:
            self.client.raw(header + b"{some text}")
            self.assertEqual(self.unasked_error(), -32700, header)
            self.alive()

    def test_a_huge_length(self):
        for length in [b"100000000000", b"99999999999999999999999999"]:
            self.client.raw(b"Content-Length: " + length + b"\r\n\r\n{\"x\": 1}")
            self.assertEqual(self.unasked_error(), -32600)
            self.alive()

    def test_a_message_in_pieces(self):
        body = json.dumps({"jsonrpc": "2.0", "id": "slow", "method": "textDocument/nothing"}).encode()
        for byte in b"Content-Length: %d\r\n\r\n%s" % (len(body), body):
            self.client.raw(bytes([byte]))
        self.assertEqual(self.client.answer("slow")["error"]["code"], -32601)

    def test_cancelled_requests(self):
        self.open("system\n" + "".join(f"  x{i}' = -x{i};\n" for i in range(3000)))
        first = self.client.next_id + 1
        for _ in range(40):
            self.client.start("textDocument/semanticTokens/full", {"textDocument": {"uri": self.uri()}})
        last = self.client.next_id
        self.client.notify("$/cancelRequest", {"id": last})
        self.client.notify("$/cancelRequest", {"id": "unknown"})
        self.client.notify("$/cancelRequest", [])
        replies = [self.client.answer(i) for i in range(first, last + 1)]
        self.assertTrue(all("result" in reply for reply in replies[:10]))
        self.assertEqual(replies[-1].get("error", {}).get("code"), -32800)
        self.alive()

    def test_deep_and_strange_texts(self):
        deep = 30_000
        for i, text in enumerate(["(" * deep, "system x = " + "(" * deep, "for i in 1..2 { " * deep, "module M = ( " * deep, "[" * deep,
                                  "a." * deep, "system x = " + "-" * deep + "1;", "transition T { for i in 1..2 {" * deep, "{" * deep,
                                  "x'" * deep, "sum(i in 1..2: " * deep, "\r" * 1000, "\"" * 1001, "/*" * 1000, "in x {" * deep]):
            name = f"deep{i}.tact"
            self.open(text, name=name)
            document = {"textDocument": {"uri": self.uri(name)}}
            self.client.ask("textDocument/documentSymbol", document)
            self.client.ask("textDocument/foldingRange", document)
            self.client.ask("textDocument/completion", {**document, "position": {"line": 0, "character": 50}})
            self.client.answer(self.client.start("textDocument/formatting", {**document, "options": {}}))
            self.client.notify("textDocument/didClose", document)
        self.alive()


class Protected(Served):
    """The worker may end; the server does not (src/process/worker.h says how a worker is made to)."""
    environment = {"TACTUS_WORKER_TRAP": "crash:CRASH stack:STACK memory:MEMORY hang:HANG check:FAILED answering-crash:ASKED answering-sleep:SLEEP",
                   "TACTUS_WORKER_SECONDS": "1"}
    good = "system\n  x' = -x;\n"

    def change(self, text, version):
        self.texts["a.tact"] = text
        self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": version},
                                                      "contentChanges": [{"text": text}]})

    def test_a_text_that_ends_the_compiler(self):
        self.open("system\n  y = 2;\n", name="other.tact")
        self.diagnostics(name="other.tact")
        self.open(self.good)
        version = 1
        for word, says in [("CRASH", "crashed"), ("STACK", "crashed"), ("MEMORY", "memory|crashed"), ("HANG", "more than 1 s"),
                           ("FAILED", r"internal error: .* \(process/worker.cpp:\d+\)")]:
            with self.subTest(word):
                version += 1
                self.change(f"{self.good}// {word}\n", version)
                [one] = self.diagnostics(version=version)
                self.assertEqual((one["code"], one["severity"]), ("K001", 1))
                self.assertRegex(one["message"], says)
                self.assertIn("report", one["message"])
                # The other document is there as before.
                self.client.ask("textDocument/hover", {"textDocument": {"uri": self.uri("other.tact")},
                                                       "position": {"line": 1, "character": 2}})
                # The text is tried again when it has changed, in part too.
                version += 1
                self.client.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(), "version": version}, "contentChanges": [
                    {"range": {"start": {"line": 2, "character": 3}, "end": {"line": 2, "character": 3 + len(word)}}, "text": "fine"}]})
                self.assertEqual([d for d in self.diagnostics(version=version) if d["severity"] == 1], [])
                self.texts["a.tact"] = f"{self.good}// fine\n"
                self.assertIn("x", self.client.ask("textDocument/hover", self.at("|x'"))["contents"]["value"])

    def test_a_request_that_ends_the_worker(self):
        self.open(f"{self.good}// ASKED\n")
        self.diagnostics(version=1)
        self.assertEqual(self.client.fail("textDocument/hover", self.at("|x'"))["code"], -32803)
        [one] = self.diagnostics(version=1)
        self.assertEqual(one["code"], "K001")
        self.assertEqual(self.client.fail("textDocument/hover", self.at("|x'"))["code"], -32803)  # not tried again
        self.change(self.good, 2)
        self.diagnostics(version=2)
        self.client.ask("textDocument/hover", self.at("|x'"))
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri()}})

    def test_closing_a_text_that_ended_it(self):
        self.open(f"{self.good}// CRASH\n")
        self.assertEqual(self.diagnostics(version=1)[0]["code"], "K001")
        self.client.notify("textDocument/didClose", {"textDocument": {"uri": self.uri()}})
        self.assertEqual(self.diagnostics(), [])
        self.assertEqual(self.client.fail("textDocument/hover", self.at("|x'"))["code"], -32602)

    def test_a_running_request_is_cancelled(self):
        self.open(f"{self.good}// SLEEP\n")
        self.diagnostics(version=1)
        first = self.client.start("textDocument/hover", self.at("|x'"))
        second = self.client.start("textDocument/foldingRange", {"textDocument": {"uri": self.uri()}})
        for identity in (second, first):
            self.client.notify("$/cancelRequest", {"id": identity})
            self.assertEqual(self.client.answer(identity)["error"]["code"], -32800)
        self.client.notify("$/cancelRequest", {"id": first})  # answered already
        self.client.notify("$/cancelRequest", {"id": "nobody"})
        self.client.notify("$/cancelRequest", {})
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(timeout=SECONDS), 1)

    def test_the_worker_is_killed(self):
        self.open(self.good)
        self.diagnostics(version=1)
        tasks = pathlib.Path(f"/proc/{self.client.process.pid}/task").glob("*/children")
        [worker] = [int(word) for path in tasks for word in path.read_text().split()]
        os.kill(worker, 9)
        self.diagnostics(version=1)  # of the next worker
        self.client.ask("textDocument/hover", self.at("|x'"))
        self.assertIsNone(self.client.ask("shutdown"))
        self.client.notify("exit")
        self.assertEqual(self.client.process.wait(timeout=SECONDS), 0)


class Large(Served):
    """Texts that no person writes: answered, or refused in words, and the server goes on."""

    def ask_all(self, text):
        self.open(text)
        where = {"textDocument": {"uri": self.uri()}}
        for method in ("semanticTokens/full", "documentSymbol", "foldingRange"):
            self.client.ask(f"textDocument/{method}", where)
        middle = dict(where, position={"line": min(1, text.count("\n")), "character": 30})
        for method in ("hover", "documentHighlight", "definition", "completion"):
            self.client.ask(f"textDocument/{method}", middle)
        self.client.ask("textDocument/references", dict(middle, context={"includeDeclaration": True}))
        listed = self.diagnostics()
        self.client.notify("textDocument/didClose", where)
        self.diagnostics()
        return listed

    def test_a_long_line(self):
        self.ask_all("system\n  y = 1;  x = " + "+".join(["y"] * 25_000) + ";\n")

    def test_a_line_of_a_megabyte(self):
        self.ask_all("system\n  y = 1;  " + "x = y; " * 150_000 + "\n")

    def test_many_short_lines(self):
        self.ask_all("system\n" + "".join(f"  a{i} = {i};\n" for i in range(20_000)) + "y\n" * 80_000)

    def test_deep_nesting(self):
        for text in ("system\n  x = " + "(" * 50_000 + "1" + ")" * 50_000 + ";\n", "system\n  x = " + "(" * 100_000,
                     "system\n  x = " + "-" * 100_000 + "1;\n", "system\n" + "in a.b { " * 50_000, "system\n  x = " + "[" * 50_000):
            listed = self.ask_all(text)
            self.assertNotIn("K001", [one["code"] for one in listed])

    def test_a_huge_comment(self):
        self.assertEqual(self.ask_all("/*" + "y + é\n" * 200_000 + "*/\nsystem\n  x = 1;\n// " + "é" * 200_000), [])

    def test_many_mistakes(self):
        self.assertTrue(self.ask_all("system\n" + "  x = = ;\n" * 20_000))


class Responsive(Served):
    def test_answers_do_not_wait_for_the_compiler(self):
        """Diagnostics of a large text take their time; an answer about it comes before them."""
        text = "system\n" + "".join(f"  x{i}'' = -{i} * x{i} + sin(x{max(0, i - 1)});\n" for i in range(10_000))
        self.open(text)
        hover = self.client.start("textDocument/hover", {"textDocument": {"uri": self.uri()}, "position": {"line": 5000, "character": 3}})
        order = []
        self.client.wait(lambda m: order.append(m.get("method") or m.get("id")) or m.get("id") == hover)
        self.assertEqual(order[-1], hover)
        self.assertNotIn("textDocument/publishDiagnostics", order)
        self.diagnostics()


class Files(Served):
    """What a document names lies in its folder, unless a person allows more."""

    def setUp(self):
        self.outside = pathlib.Path(tempfile.mkdtemp(prefix="tactus_lsp_outside_"))
        self.addCleanup(shutil.rmtree, self.outside, ignore_errors=True)
        (self.outside / "t.csv").write_text("0, hunter2\n1, 2\n")
        (self.outside / "part.tact").write_text("function hunter(x) = x;")
        super().setUp()

    def codes(self, text, name="a.tact"):
        self.open(text, name)
        listed = self.diagnostics(name)
        return [one["code"] for one in listed], json.dumps(listed)

    def reads(self, name):
        return f'boundary x with x(0) = 0; system x\' = table("{name}")(x);'

    def test_outside_is_refused_and_not_quoted(self):
        for k, path in enumerate([self.outside / "t.csv", f"../{self.outside.name}/t.csv", "/proc/self/mem", "/etc/passwd"]):
            codes, told = self.codes(self.reads(path), f"{k}.tact")
            self.assertEqual(codes, ["F007"])
            self.assertNotIn("hunter", told)
        codes, _ = self.codes(f'use "{self.outside / "part.tact"}"; system x = 1;', "u.tact")
        self.assertIn("F007", codes)
        # Nor are its names known.
        place = {"textDocument": {"uri": self.uri("u.tact")}, "position": {"line": 0, "character": 0}}
        self.assertNotIn("hunter", json.dumps(self.client.ask("textDocument/completion", place)))

    def test_a_document_without_a_folder_reads_the_library_only(self):
        (self.folder / "t.csv").write_text("0, 1\n1, 2\n")  # where the server stands
        for k, (path, code) in enumerate([("t.csv", "F007"), ("battery.csv", None)]):
            uri = f"untitled:Untitled-{k}"
            self.client.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "tactus", "version": 1,
                "text": self.reads(path).replace('")(x)', '", column = 2)(x)')}})
            listed = self.client.wait(lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == uri)
            self.assertEqual([one["code"] for one in listed["params"]["diagnostics"] if one["severity"] == 1], [code] if code else [])


class AllowedByTheCommandLine(Files):
    def words(self):
        return ("--allow", str(self.outside))

    def test_outside_is_refused_and_not_quoted(self):
        self.assertEqual(self.codes(self.reads(self.outside / "t.csv"))[0], ["D002"])  # which is read
        self.assertEqual(self.codes(self.reads("/etc/passwd"), "b.tact")[0], ["F007"])


class AllowedByTheEditor(AllowedByTheCommandLine):
    def words(self):
        self.options = {"allow": [str(self.outside)]}
        return ()


if __name__ == "__main__":
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
