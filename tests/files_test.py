"""Files: which ones a model may name, and what is left when a result cannot be written. Disks that are full are stood in for by /dev/full and by a limit
on the size of files.

    python3 tests/files_test.py build/bin/tactus [TEST..]
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TACTUS = ""
PATIENCE = 120

DECAY = """\
simulation ending_time = 2 step_size = 0.01
parameter k = 1 in 0..10;
boundary x with x(0) = 1;
system
  x' = -k * x;
"""
LONG = DECAY.replace("ending_time = 2", "ending_time = 1e9 record_period = 1")
TABLE = "0, 1\n1, 2\n2, 5\n"
SECRET = "hunter2, a secret word\nhunter3, another\nhunter4, one more\n"
COMMANDS = [["run"], ["check"], ["explain"], ["linearize"], ["equilibrium"], ["export", "c", "-o", "c"], ["play", "--headless", "--for", "0"]]


class FilesTest(unittest.TestCase):
    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="tactus_files_")).resolve()
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.folder = self.top / "model"
        self.folder.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def start(self, *words, most_bytes=None, **options):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
        options.setdefault("cwd", self.folder)
        return subprocess.Popen([TACTUS, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=limit if most_bytes else None, **options)

    def tactus(self, *words, exit_code=0, **options):
        process = self.start(*words, **options)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, exit_code, f"tactus {words}\n{out!r}\n{err!r}")
        return out, err

    def wait_for(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.02)


class Reading(FilesTest):
    """What a model names lies in its folder, unless a person allows more."""

    def assert_refused(self, text, *words, says=b"lies outside of the model's folder"):
        self.write("m.tact", text)
        for command in COMMANDS:
            out, err = self.tactus(*command, "m.tact", *words, exit_code=1)
            self.assertIn(b"error[F007]", err, command)
            self.assertIn(says, err, command)
            self.assertNotIn(b"hunter", out + err, command)
            self.assertNotIn(b"root:", out + err, command)

    def test_tables_and_used_files_stay_inside(self):
        (self.top / "secret.csv").write_text(SECRET)
        (self.top / "secret.tact").write_text(SECRET)
        os.symlink(self.top / "secret.csv", self.folder / "link.csv")
        os.symlink(self.top, self.folder / "up")
        os.symlink(self.top / "gone", self.folder / "dead")
        # Whether a file outside is there is not told either.
        for name in ["../secret.csv", str(self.top / "secret.csv"), "link.csv", "up/secret.csv", "/etc/passwd", "../gone.csv", "up/gone.csv",
                     "up/gone/secret.csv", "dead/secret.csv", "dead"]:
            with self.subTest(name):
                self.assert_refused(f'boundary x with x(0) = 0; system x\' = table("{name}")(x);')
        for name in ["../secret.tact", str(self.top / "secret.tact"), "up/secret.tact", "/etc/passwd"]:
            with self.subTest(name):
                self.assert_refused(f'use "{name}"; boundary x with x(0) = 0; system x\' = -x;')

    def test_meshes_stay_inside(self):
        (self.top / "secret.stl").write_text(SECRET)
        os.symlink(self.top, self.folder / "up")
        model = 'boundary x with x(0) = 0; system x\' = -x; scene mesh "{}" at (x, 0, 0);'
        for name in ["../secret.stl", str(self.top / "secret.stl"), "up/secret.stl", "up/gone.stl", "/etc/passwd.stl"]:
            with self.subTest(name):
                self.assert_refused(model.format(name))
        self.tactus("check", "m.tact", "--allow", "/etc")
        self.write("parts/arm.stl", "solid\nendsolid\n")
        for name in ["parts/arm.stl", "parts/not_yet.stl"]:
            self.write("m.tact", model.format(name))
            self.tactus("check", "m.tact")

    def test_what_is_used_stays_inside_too(self):
        (self.top / "secret.csv").write_text(SECRET)
        self.write("parts/part.tact", 'function f(x) = table("../../secret.csv")(x);')
        self.assert_refused('use "parts/part.tact"; boundary x with x(0) = 0; system x\' = f(x);')
        self.write("shared.csv", TABLE)
        self.write("parts/part.tact", 'function f(x) = table("../shared.csv")(x);')
        self.tactus("check", "m.tact")

    def test_a_person_may_allow_more(self):
        (self.top / "data").mkdir()
        (self.top / "data" / "t.csv").write_text(TABLE)
        (self.top / "other.csv").write_text(TABLE)
        self.write("m.tact", 'simulation ending_time = 1 step_size = 0.1\nboundary x with x(0) = 0; system x\' = table("../data/t.csv")(x);')
        for command in COMMANDS:
            with self.subTest(command):
                _, err = self.tactus(*command, "m.tact", exit_code=1)
                self.assertIn(b"--allow PATH", err)
                code = 4 if command == ["equilibrium"] else 0  # it never rests
                self.tactus(*command, "m.tact", "--allow", "../data", exit_code=code)
                self.tactus(*command, "m.tact", "--allow", "../other.csv", "--allow", self.top / "data" / "t.csv", exit_code=code)
                self.tactus(*command, "m.tact", "--allow", "../other.csv", exit_code=1)
        _, err = self.tactus("check", "m.tact", "--allow", "../nothing", exit_code=2)
        self.assertIn(b"there is no folder or file `../nothing`", err)

    def test_the_folder_of_every_file_counts(self):
        other = self.top / "other"
        other.mkdir()
        (other / "t.csv").write_text(TABLE)
        (other / "b.tact").write_text('function f(x) = table("t.csv")(x);')
        self.write("a.tact", "boundary x with x(0) = 0; system x' = f(x);")
        self.tactus("check", "a.tact", "../other/b.tact")

    def test_the_library_is_there_for_everybody(self):
        self.write("m.tact", 'use "mechanics.tact"; simulation ending_time = 1 step_size = 0.1\nsystem body = Mass(x, 0, m = 1, x0 = 0);')
        self.tactus("check", "m.tact")

    def test_devices_pipes_and_folders_are_no_tables(self):
        os.mkfifo(self.folder / "pipe.csv")
        (self.folder / "folder.csv").mkdir()
        self.assert_refused('boundary x with x(0) = 0; system x\' = table("pipe.csv")(x);', says=b"it is a device or a pipe")
        self.assert_refused('boundary x with x(0) = 0; system x\' = table("folder.csv")(x);', says=b"it is a directory")
        self.assert_refused('boundary x with x(0) = 0; system x\' = table("/dev/zero")(x);', "--allow", "/dev", says=b"it is a device or a pipe")

    def test_a_read_error_is_an_error_at_the_line(self):
        text = 'boundary x with x(0) = 0;\nsystem x\' = table("/proc/self/mem")(x);'
        self.assert_refused(text)
        self.assert_refused(text, "--allow", "/proc", says=b"a read error")
        _, err = self.tactus("check", "m.tact", "--allow", "/proc", exit_code=1)
        self.assertIn(b"m.tact:2:19: error[F007]", err)

    def test_an_initialisation_file_writes_inside_too(self):
        self.write("m.tact", DECAY)
        (self.top / "victim.data").write_text("kept")
        os.symlink(self.top / "victim.data", self.folder / "link.data")
        for name in ["../victim", str(self.top / "victim"), "link", "gone/x"]:
            self.write("SimSect.rc", f'finalTime = 1;\ndataBaseName = "{name}";\n')
            _, err = self.tactus("run", "m.tact", "--init", "SimSect.rc", exit_code=2)
            self.assertIn(b"SimSect.rc:2:16: error[I008]: `dataBaseName` does not lie in the model's folder", err)
            self.assertEqual((self.top / "victim.data").read_text(), "kept")
        # The same from elsewhere: where the program stands does not count.
        self.write("SimSect.rc", 'finalTime = 1; dataBaseName = "out";')
        self.tactus("run", "model/m.tact", "--init", "model/SimSect.rc", cwd=self.top, exit_code=2)
        self.assertFalse((self.top / "out.data").exists())
        self.tactus("run", "model/m.tact", "--init", "model/SimSect.rc", "--allow", ".", cwd=self.top)
        self.assertTrue((self.top / "out.data").exists())
        self.tactus("run", "m.tact", "--init", "SimSect.rc")
        self.assertTrue((self.folder / "out.param").exists())
        self.write("SimSect.rc", 'finalTime = 1; dataBaseName = "../victim";')
        self.tactus("run", "m.tact", "--init", "SimSect.rc", "--base", "mine")  # what a person says counts


class Writing(FilesTest):
    """Whole rows, whole files or none, a message and an exit code."""

    def entries(self):
        return sorted(path.name for path in self.folder.iterdir())

    def test_rows_on_a_disk_that_is_full(self):
        self.write("m.tact", LONG)
        for words in [["--out", "run.csv"], ["--base", "run"]]:
            out, err = self.tactus("run", "m.tact", *words, "--json", most_bytes=20_000, exit_code=4)
            told = json.loads(out)
            self.assertEqual((told["status"], told["failure"]["kind"]), ("failed", "not_kept"))
            name = "run.csv" if words[0] == "--out" else "run.data"
            self.assertIn("the file would exceed the size limit", told["failure"]["text"])
            text = (self.folder / name).read_text()
            self.assertLessEqual(len(text), 20_000)
            self.assertGreater(len(text), 19_900)
            self.assertTrue(text.endswith("\n"))
            width = len(text.splitlines()[0].replace(",", " ").split())
            self.assertTrue(all(len(line.replace(",", " ").split()) == width for line in text.splitlines()))

    def test_rows_on_standard_output(self):
        self.write("m.tact", LONG)
        with open(self.folder / "run.csv", "wb") as out:
            process = subprocess.Popen([TACTUS, "run", "m.tact", "--out", "-"], cwd=self.folder, stdout=out, stderr=subprocess.PIPE,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)))
            _, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 4)
        self.assertIn(b"cannot write to standard output: the file would exceed the size limit", err)
        self.assertTrue((self.folder / "run.csv").read_text().endswith("\n"))

    def test_what_takes_nothing_at_all(self):
        self.write("m.tact", LONG)
        for words in [["--out", "/dev/full"], ["--out", "-"]]:
            for more in ([], ["--json"]) if words[1] != "-" else ([],):
                with self.subTest(words=words, more=more), open("/dev/full", "wb") as full:
                    process = subprocess.Popen([TACTUS, "run", "m.tact", *words, *more], cwd=self.folder, stderr=subprocess.PIPE,
                                               stdout=full if words[1] == "-" else subprocess.PIPE)
                    out, err = process.communicate(timeout=PATIENCE)
                    self.assertEqual(process.returncode, 4)
                    self.assertEqual(err.count(b"the disk is full"), 1, err)
                    if more:
                        self.assertEqual(json.loads(out)["failure"]["kind"], "not_kept")

    def test_no_empty_plots_nor_half_exports(self):
        self.write("m.tact", DECAY)
        self.write("run.csv", "t,x\n0,1\n1,2\n2,3\n")
        old = self.write("old.svg", "an old picture")
        before = self.entries()
        for words in [["run", "m.tact", "--plot", "p.svg"], ["run", "m.tact", "--plot", "p.png"], ["run", "m.tact", "--plot", "old.svg"],
                      ["plot", "run.csv", "-o", "p.pdf"], ["plot", "run.csv", "-o", "old.svg"],
                      ["linearize", "m.tact", "--inputs", "k", "--plot", "p.svg"], ["linearize", "m.tact", "--inputs", "k", "--plot", "p.csv"],
                      ["linearize", "m.tact", "--inputs", "k", "--step-plot", "p.svg"],
                      ["export", "c", "m.tact", "-o", "m_c"], ["wall", "--mass", "0.1", "--damping", "0.5", "--at", "0.1,1", "--out", "w.svg"]]:
            with self.subTest(words):
                _, err = self.tactus(*words, most_bytes=1000, exit_code=4)
                self.assertIn(b"the file would exceed the size limit", err)
                self.assertEqual(self.entries(), before)
                self.assertEqual(old.read_text(), "an old picture")
                out, _ = self.tactus(*words, "--json", most_bytes=1000, exit_code=4)
                self.assertEqual(json.loads(out)["status"], "failed")
        # An export that was there stays as it was: no new .c with an old .h.
        self.tactus("export", "c", "m.tact", "-o", "m_c")
        c = {path.name: path.read_bytes() for path in (self.folder / "m_c").iterdir()}
        self.write("m.tact", DECAY + "  y = 2 * x;\n")
        self.tactus("export", "c", "m.tact", "-o", "m_c", most_bytes=20_000, exit_code=4)
        self.assertEqual({path.name: path.read_bytes() for path in (self.folder / "m_c").iterdir()}, c)

    def test_a_text_is_laid_out_as_a_whole_or_not_at_all(self):
        ugly = "system   x=1;\n" * 200
        path = self.write("m.tact", ugly)
        self.tactus("format", "m.tact", most_bytes=1000, exit_code=2)
        self.assertEqual(path.read_text(), ugly)
        self.assertEqual(self.entries(), ["m.tact"])
        os.symlink(self.top / "outside.tact", self.folder / "link.tact")
        (self.top / "outside.tact").write_text(ugly)
        _, err = self.tactus("format", "link.tact", exit_code=2)
        self.assertIn(b"it is a link that leads out of its folder", err)
        self.assertEqual((self.top / "outside.tact").read_text(), ugly)

    def test_killed_while_it_draws(self):
        # A run that is ended in any way leaves no part of a picture; the file has no name before it is whole.
        self.write("m.tact", LONG)
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = self.start("run", "m.tact", "--plot", "p.svg", "--out", "run.csv", "--quiet")
            self.wait_for(lambda: (self.folder / "run.csv").exists() and (self.folder / "run.csv").stat().st_size > 2000, "rows")
            process.send_signal(number)
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 130 if number == signal.SIGTERM else -number)
            expected = ["m.tact", "p.svg", "run.csv"] if number == signal.SIGTERM else ["m.tact", "run.csv"]
            self.assertEqual(self.entries(), expected)
            if number == signal.SIGTERM:
                self.assertTrue((self.folder / "p.svg").read_text().endswith("</svg>\n"))
                self.assertTrue((self.folder / "run.csv").read_text().endswith("\n"))
            for name in expected[1:]:
                (self.folder / name).unlink()


ESCAPE = "\x1b[31mred\x1b]0;title\x07\u202e\x9b2J\rx\ny"


class Terminal(FilesTest):
    """What steers a terminal is spelled out, wherever a name or a text comes from."""

    def assert_tame(self, *streams):
        for stream in streams:
            text = stream.decode()
            self.assertFalse([c for c in text if (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0" or "\u202a" <= c <= "\u202e"], repr(text))

    def test_names_of_files(self):
        name = ESCAPE + ".tact"
        good, ugly, bad = DECAY, "system   x=1;\n", "system x = ;\n"
        for command in [*COMMANDS, ["format"], ["format", "--check"]]:
            for text in [good, ugly, bad, None]:
                with self.subTest(command=command, text=text):
                    (self.folder / name).unlink(missing_ok=True)
                    if text:
                        self.write(name, text)
                    out, err = self.start(*command, name).communicate(timeout=PATIENCE)
                    self.assert_tame(out, err)
        self.write(name, DECAY)
        out, err = self.tactus("run", name, "--out", ESCAPE + ".csv", "--plot", ESCAPE + ".svg")
        self.assertIn(b"\\x1b[31mred", out)
        self.assert_tame(out, err)
        out, err = self.start("run", name, "--plot", ESCAPE + "/x.svg").communicate(timeout=PATIENCE)
        self.assert_tame(out, err)
        # For programs a name stays what it is.
        self.write(name, bad)
        out, _ = self.tactus("check", name, "--json", exit_code=1)
        self.assertEqual(json.loads(out)["diagnostics"][0]["file"], name)

    def test_texts_of_models(self):
        bad = ["system x = \x1b[2J;\n", "system x = \"\x1b]0;t\x07\";\n", "use \"\x1b[2J\";\nsystem x = 1;\n", "system \u202ex = 1;\n",
               "boundary x with x(0) = 0; system x' = table(\"\x1b[2J.csv\")(x);\n"]
        for text in bad:
            self.write("m.tact", text)
            out, err = self.start("check", "m.tact").communicate(timeout=PATIENCE)
            self.assert_tame(out, err)
        self.write("t.csv", "0, \x1b[2J\n1, 2\n")
        self.write("m.tact", 'boundary x with x(0) = 0; system x\' = table("t.csv")(x);')
        self.assert_tame(*self.tactus("check", "m.tact", exit_code=1))
        for words in [["run", "\x1b[2J"], ["\x1b[2J"], ["run", "m.tact", "--set", "\x1b[2J=1"], ["run", "m.tact", "--\x1b[2J"],
                      ["run", "m.tact", "--solver", "\x1b[2J"], ["run", "m.tact", "--device", "a=\x1b:b"], ["plot", "\x1b[2J.csv"]]:
            out, err = self.start(*words).communicate(timeout=PATIENCE)
            self.assert_tame(out, err)


STARTER = """\
#!/bin/sh
# A starter of browsers that never ends, and tells how it was called.
echo $$ > "$TOLD/pid"
printf '%s\\n' "$@" > "$TOLD/words"
page=$(printf %s "${1#file://}" | sed 's/%20/ /g')
cp "$page" "$TOLD/page"
stat -c %a "$page" "$(dirname "$page")" > "$TOLD/modes"
mv "$TOLD/words" "$TOLD/done"
exec sleep 600
"""


class Browser(FilesTest):
    def test_the_link_stands_in_a_private_page_and_in_no_command_line(self):
        self.write("m.tact", LONG)
        tools, told, runtime = self.top / "tools", self.top / "told", self.top / "run time"
        for folder in (tools, told, runtime):
            folder.mkdir(mode=0o700)
        (tools / "xdg-open").write_text(STARTER)
        (tools / "xdg-open").chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":99", "TOLD": str(told), "XDG_RUNTIME_DIR": str(runtime)}
        process = self.start("play", "m.tact", "--json", env=environment)
        self.addCleanup(process.kill)
        url = json.loads(process.stdout.readline())["url"]
        self.wait_for(lambda: (told / "done").exists(), "the starter")
        starter = int((told / "pid").read_text())
        self.addCleanup(os.kill, starter, signal.SIGKILL)
        self.assertRegex((told / "done").read_text(), r"^file:///.*run%20time/tactus-\w{6}/open\.html\n$")
        for told_by in ("cmdline", "environ"):
            self.assertNotIn(url.split("token=")[1], pathlib.Path(f"/proc/{starter}/{told_by}").read_text())
        self.assertIn(url, (told / "page").read_text())
        self.assertEqual((told / "modes").read_text(), "600\n700\n")
        self.assertEqual(len(list(runtime.iterdir())), 1)
        # The world does not wait for the starter, which still runs, and ends without it.
        port = int(url.split(":")[2].split("/")[0])
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, err)
        self.assertGreaterEqual(json.loads(out)["time"], 0)
        os.kill(starter, 0)
        self.assertEqual(list(runtime.iterdir()), [])

    def test_a_starter_that_fails_is_said(self):
        self.write("m.tact", LONG)
        tools = self.top / "tools"
        tools.mkdir()
        (tools / "xdg-open").write_text("#!/bin/sh\nexit 3\n")
        (tools / "xdg-open").chmod(0o755)
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "DISPLAY": ":99"}
        process = self.start("play", "m.tact", env=environment)
        self.addCleanup(process.kill)
        said = b""
        while b"open it in a browser; it works once" not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        self.assertEqual(subprocess.run(["ps", "-o", "state=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False).stdout.count("Z"), 0)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    TACTUS = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
