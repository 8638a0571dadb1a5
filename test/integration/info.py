#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""pmix_info: every option and format, the findings of --check, and protection from components' code. Run by meson
test, or with TENON_BUILD set to the build folder."""
import fcntl
import json
import os
import pty
import re
import resource
import shlex
import shutil
import struct
import subprocess
import tempfile
import termios
import time
import unittest

BUILD = os.path.realpath(os.environ["TENON_BUILD"])
INFO = os.path.join(BUILD, "contrib/tools/pmix_info")
FAKES = os.path.join(BUILD, "test/unit/plugin")
CC = shlex.split(os.environ.get("CC", "cc"))
SANITIZED = bool(os.environ.get("TENON_SANITIZE"))
WELL = "configuration and components are all right\n"
TEXT, NUMBER, FLAG, MAYBE = str, int, bool, (str, type(None))

# Exact members of an object of each kind.
SCHEMA = {
    "version": {"tenon": TEXT, "library": TEXT},
    "paths": {n: MAYBE for n in ("prefix", "bindir", "libdir", "includedir", "sysconfdir", "pkglibdir")},
    "files": {"path": TEXT, "source": TEXT, "read": FLAG},
    "frameworks": {"name": TEXT, "abi": NUMBER, "keeps": TEXT, "required": FLAG, "roles": list},
    "components": {"framework": TEXT, "name": TEXT, "file": MAYBE, "version": MAYBE, "state": TEXT,
                   "reason": MAYBE},
    "parameters": {"name": TEXT, "framework": TEXT, "component": TEXT, "type": TEXT, "expected": TEXT,
                   "choices": (list, type(None)), "default": MAYBE, "value": MAYBE, "set_by": TEXT,
                   "level": NUMBER, "help": MAYBE, "old_names": MAYBE, "settings": list},
    "settings": {"name": TEXT, "value": TEXT, "source": TEXT, "where": TEXT, "fate": TEXT},
    "problems": {"severity": TEXT, "text": TEXT},
    "leftovers": {"kind": TEXT, "path": TEXT, "uid": NUMBER, "age_s": NUMBER, "pid": (int, type(None)),
                  "things": NUMBER, "living": NUMBER, "note": MAYBE},
    "synonyms": {"name": TEXT, "means": MAYBE, "why_not": MAYBE},
}


def conforms(kind, thing):
    """Returns an error of the object, or None."""
    if isinstance(thing, list):
        return next((w for w in (conforms(kind, t) for t in thing) if w), None)
    if set(thing) != set(SCHEMA[kind]):
        return "%s has %s" % (kind, sorted(set(thing) ^ set(SCHEMA[kind])))
    for key, value in thing.items():
        if not isinstance(value, SCHEMA[kind][key]):
            return "%s.%s is %r" % (kind, key, value)
    return conforms("settings", thing["settings"]) if kind == "parameters" else None


class Case(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="tn.")
        self.addCleanup(shutil.rmtree, self.top)
        self.env = {k: v for k, v in os.environ.items() if not re.match("PMIX_|LD_|NO_COLOR", k)}
        self.env.update(HOME=self.top, PMIX_SYSCONFDIR=os.path.join(self.top, "etc"), LC_ALL="C",
                        TMPDIR=os.path.join(self.top, "tmp"))
        os.makedirs(os.path.join(self.top, "etc"))
        os.makedirs(os.path.join(self.top, "tmp"))

    def run_info(self, *args, want=0, **env):
        p = subprocess.run([INFO, *args], env=dict(self.env, **env), timeout=60, check=False,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(p.returncode, want, p.stderr + p.stdout)
        self.err = p.stderr
        if want != 2:
            self.assertEqual(p.stderr, "")
        return p.stdout

    def json(self, *args, **env):
        got = json.loads(self.run_info("--json", *args, **env))
        for kind, things in got.items():
            self.assertIsNone(conforms(kind, things) if kind != "host" else None)
        return got

    def parameter(self, name, **env):
        found = [p for p in self.json("--param", "all", "all", **env)["parameters"] if p["name"] == name]
        self.assertEqual(len(found), 1)
        return found[0]

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def folder(self, *fakes):
        """Sets and returns a folder of components."""
        path = self.env["PMIX_MCA_mca_base_component_path"] = os.path.join(self.top, "parts")
        os.makedirs(path, exist_ok=True)
        for fake in fakes:
            shutil.copy(os.path.join(FAKES, "pmix_mca_tenon_%s.so" % fake), path)
        return path

    def compile(self, name, code):
        """Compiles a component that runs code when it is loaded."""
        source = self.write("src/%s.c" % name, "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                            "__attribute__((constructor)) static void begin(void) { %s }\n" % code)
        path = os.path.join(self.folder(), "pmix_mca_tenon_%s.so" % name)
        subprocess.run([*CC, "-shared", "-fPIC", "-o", path, source], check=True)
        return path

    def check_finds(self, pattern, **env):
        out = self.run_info("--check", want=1, **env)
        self.assertRegex(out, "(?m)^(wrong|odd): .*" + pattern)
        self.assertNotIn(WELL, out)
        return out


class Host(Case):
    """The state of a running server."""

    def setUp(self):
        super().setUp()
        run = subprocess.Popen([os.path.join(BUILD, "contrib/tools/pmixrun"), "-n", "2", "--mca", "server_unread_timeout",
                                "7s", "sh", "-c", "test $PMIX_RANK = 0 && echo up; exec cat"], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(run.communicate)
        self.assertEqual(run.stdout.readline(), b"up\n")
        self.pid = run.pid

    def test_json(self):
        host = self.json("--host", str(self.pid))["host"]
        self.assertEqual(set(host), {"server", "memory", "loop", "connections", "parameters"})
        self.assertEqual(host["server"]["pid"], self.pid)
        self.assertGreater(host["loop"]["longest_turn_us"], 0)
        self.assertEqual({c["kind"] for c in host["connections"].values()}, {"tool"})
        self.assertEqual(host["parameters"]["server_unread_timeout"]["value"], "7s")
        self.assertEqual(host["parameters"]["server_committed_total"]["source"], "default")

    def test_lines(self):
        out = self.run_info("--host", str(self.pid), "--parsable")
        self.assertRegex(out, r"(?m)^host:server:pid:%d$" % self.pid)
        self.assertRegex(out, r"(?m)^host:memory:all:values_b:\d+$")
        self.assertRegex(out, r"(?m)^host:parameters:server_unread_timeout:value:7s$")
        out = self.run_info("--host", str(self.pid))
        self.assertRegex(out, r"(?m)^Server: loop\n  turns +\d+$")
        self.assertRegex(out, r"(?m)^  server_unread_timeout +value 7s source ")

    def test_no_server(self):
        for pid in ("1", str(os.getpid())):
            p = subprocess.run([INFO, "--host", pid], env=self.env, timeout=60, check=False, capture_output=True, text=True)
            self.assertEqual(p.returncode, 1)
            self.assertRegex(p.stderr, r"(?m)^pmix_info: cannot connect to server %s: " % pid)
        self.run_info("--host", "x", want=2)


class Options(Case):
    def test_summary(self):
        out = self.run_info()
        for part in ("pmix_info, Tenon ", "Folders", "Parameter files", "Framework ptl", "Problems"):
            self.assertIn(part, out)
        self.assertNotIn("Parameters of", out)
        self.assertNotIn("\033", out)

    def test_all_shows_every_parameter(self):
        for option in ("-a", "--all"):
            out = self.run_info(option)
            for part in ("Parameters of mca base", "Parameters of ptl base", "Names of other", "Folders"):
                self.assertIn(part, out)

    def test_param(self):
        want = self.run_info("--param", "ptl", "base")
        self.assertEqual(want, self.run_info("--param", "ptl:base"))
        self.assertRegex(want, r"\AParameters of ptl base\n  ptl +unset +text +default\n")
        self.assertIn("Parameters of ptl base", self.run_info("--param", "ptl"))
        self.assertEqual(self.run_info("--param", "all", "all"), self.run_info("--param", "all"))
        got = self.json("--param", "mca", "base", "--param", "core:server")["parameters"]
        self.assertEqual({p["framework"] + p["component"] for p in got}, {"mcabase", "coreserver"})

    def test_level(self):
        levels = [p["level"] for p in self.json("--param", "all", "--level", "1")["parameters"]]
        self.assertEqual(set(levels), {1})
        self.assertGreater(len(self.json("--param", "all")["parameters"]), len(levels))

    def test_parsable(self):
        out = self.run_info("--all", "--parsable", PMIX_MCA_client_connect_timeout="a\nb\\c:d")
        self.assertEqual(out, self.run_info("--parseable", "-a", PMIX_MCA_client_connect_timeout="a\nb\\c:d"))
        for line in out.splitlines():
            self.assertRegex(line, r"^(version|path|file|framework|component|mca|problem|synonym):")
        self.assertIn("\nmca:mca:base:param:mca_base_verbose:value:warn\n", out)
        self.assertIn("\nframework:ptl:keeps:all\n", out)
        out = self.run_info("--param", "core:client", "--parsable", "--source",
                            PMIX_MCA_client_connect_timeout="a\nb\\c:d")
        self.assertIn(r":client_connect_timeout:setting:0:value:a\nb\\c:d" + "\n", out)

    def test_json(self):
        self.assertEqual(set(self.json("--all")), set(SCHEMA) - {"settings", "leftovers"})
        self.assertEqual(set(self.json()), {"version", "paths", "files", "frameworks", "components", "problems"})
        self.assertEqual(set(self.json("--param", "all")), {"parameters"})
        self.assertEqual(set(self.json("--path", "all")), {"paths"})
        self.assertEqual(self.json("--check"), {"problems": [], "leftovers": []})

    def test_json_of_bytes_that_are_no_text(self):
        env = {os.fsencode(k): os.fsencode(v) for k, v in self.env.items()}
        env[b"PMIX_MCA_ptl"] = b"\xff\xfe"
        out = subprocess.run([INFO, "--all", "--json"], env=env, check=True, capture_output=True).stdout
        self.assertIn("??", out.decode("utf-8"))
        json.loads(out)

    def test_path(self):
        out = self.run_info("--path", "all")
        paths = dict(line.split() for line in out.splitlines())
        self.assertEqual(set(paths), set(SCHEMA["paths"]))
        for name, path in paths.items():
            self.assertEqual(self.run_info("--path", name), path + "\n")
        self.assertEqual(paths["sysconfdir"], self.env["PMIX_SYSCONFDIR"])
        self.assertTrue(os.path.exists(os.path.join(paths["libdir"], "libpmix.so.2")))
        self.assertEqual(paths["pkglibdir"], paths["libdir"] + "/pmix")
        self.assertEqual(paths["bindir"], os.path.dirname(INFO))

    def test_version_and_help(self):
        self.assertRegex(self.run_info("--version"), r"\Apmix_info, Tenon as PMIx \d.*, release \d.*\n\Z")
        self.assertEqual(self.run_info("-V"), self.run_info("--version"))
        self.assertRegex(self.run_info("--help"), r"\Ausage: pmix_info ")
        self.assertEqual(self.run_info("-h"), self.run_info("--help"))

    def test_bad_usage_is_one_line(self):
        for args in (["--nix"], ["nix"], ["--level"], ["--level", "0"], ["--level", "10"], ["--level", "x"],
                     ["--path"], ["--path", "nix"], ["--param"], ["--param", "nix", "all"],
                     ["--param", "ptl", "nix"], ["--param", "ptl:nix"], ["--json", "--parsable"], [""]):
            self.assertEqual(self.run_info(*args, want=2), "")
            self.assertRegex(self.err, r"\Apmix_info: [^\n]*\n\Z")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            p = subprocess.run([INFO], env=self.env, stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(p.returncode, 1)


class Sources(Case):
    def test_who_wins_and_what_was_overruled(self):
        name = "client_connect_timeout"
        system = self.write("etc/pmix-mca-params.conf", "# none\n%s = 11s\n" % name)
        user = self.write(".pmix/mca-params.conf", "ptl_base_connection_wait_time = 12s\n")
        named = self.write("named.conf", "%s = soon\n" % name)
        override = self.write("etc/pmix-mca-params-override.conf", "%s = 14s\n" % name)
        env = {"PMIX_MCA_" + name: "13s", "PMIX_MCA_mca_base_param_files": named}
        got = self.parameter(name, **env)
        self.assertEqual((got["value"], got["set_by"]), ("14s", override + ":1"))
        self.assertEqual(
            [(s["name"], s["value"], s["source"], s["where"], s["fate"]) for s in got["settings"]],
            [(name, "14s", "override file", override + ":1", "used"),
             (name, "13s", "environment", "environment", "overruled"),
             (name, "soon", "named file", named + ":1", "does not fit"),
             ("ptl_base_connection_wait_time", "12s", "user file", user + ":1", "overruled"),
             (name, "11s", "system file", system + ":2", "overruled")])
        out = self.run_info("--param", "core", "client", "--source", **env)
        at = [out.index(text) for text in ('used          %s = "14s"' % name, 'overruled     %s = "13s"' % name,
                                           'does not fit  %s = "soon"' % name, '"12s"', '"11s"')]
        self.assertEqual(at, sorted(at))
        os.remove(override)
        self.assertEqual(self.parameter(name, **env)["set_by"], "environment")
        files = {f["path"]: (f["source"], f["read"]) for f in self.json(**env)["files"]}
        self.assertEqual(files, {system: ("system file", True), user: ("user file", True),
                                 named: ("named file", True), override: ("override file", False)})

    def test_contradicting_choice_counts_less(self):
        self.write("etc/pmix-mca-params.conf", "ptl = ^tcp\n")
        got = self.parameter("ptl", PMIX_MCA_ptl="usock,^tcp")
        self.assertEqual(got["value"], "^tcp")
        self.assertEqual([s["fate"] for s in got["settings"]], ["does not fit", "used"])

    def test_parameters_of_components(self):
        self.folder("ptl_a")
        got = self.parameter("ptl_a_level", PMIX_MCA_ptl_a_level="7")
        self.assertEqual((got["value"], got["type"], got["framework"], got["component"]),
                         ("7", "integer", "ptl", "a"))
        self.assertEqual(got["expected"], "an integer from 1 to 9")


@unittest.skipUnless(os.path.exists("/dev/pts/ptmx"), "needs pseudo terminals")
class Terminal(Case):
    def on_terminal(self, *args, columns=60, **env):
        pid, fd = pty.fork()
        if pid == 0:
            time.sleep(0.2)  # for the size
            os.execve(INFO, [INFO, *args], dict(self.env, **env))
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        out = b""
        try:
            while chunk := os.read(fd, 4096):
                out += chunk
        except OSError:
            pass  # the other end is closed
        os.close(fd)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        return out.decode().replace("\r\n", "\n")

    def test_colour_on_a_terminal_only(self):
        plain = self.run_info("--param", "mca", "base")
        coloured = self.on_terminal("--param", "mca", "base", columns=2000)
        self.assertIn("\033[1mParameters of mca base\033[0m", coloured)
        self.assertEqual(re.sub("\033\\[[0-9]*m", "", coloured), plain)

    def test_no_color(self):
        self.assertNotIn("\033", self.on_terminal("--all", NO_COLOR="1"))
        self.assertIn("\033", self.on_terminal("--all", NO_COLOR=""))

    def test_help_texts_are_wrapped(self):
        out = self.on_terminal("--param", "mca", "base", NO_COLOR="1", columns=60)
        texts = [line for line in out.splitlines() if line.startswith("      ")]
        self.assertTrue(all(len(line) <= 60 for line in texts))
        self.assertGreater(len(texts), len(self.run_info("--param", "mca", "base").splitlines()) // 2)

    def test_values_do_not_drive_the_terminal(self):
        self.assertNotIn("\033", self.run_info("--all", PMIX_MCA_ptl="a\033[2Jb", want=0))


class Check(Case):
    def test_clean(self):
        self.assertEqual(self.run_info("--check"), WELL)

    def test_settings(self):
        file = self.write("etc/pmix-mca-params.conf", "\nmca_base_verbos = 1\nptl_base_if_include = eth0\n")
        self.write("parts/pmix_mca_tenon_ptl_broken.so", "\x7fELF and no more")
        parts = self.folder("ptl_a")
        for pattern, env in (
                (re.escape(file) + ":2: unknown parameter mca_base_verbos = \"1\"; did you mean mca_base_verbose", {}),
                (re.escape(file) + ":3: ptl_base_if_include does not apply", {}),
                ('environment: PMIX_MCA_mca_base_verbose = "loud": expected one of', {"mca_base_verbose": "loud"}),
                ('PMIX_MCA_ptl_a_level = "10": expected an integer from 1 to 9', {"ptl_a_level": "10"}),
                ("environment: opal_forward_envars does not apply", {"opal_forward_envars": "LD_*"}),
                ("ptl = \"nix\": unknown component nix; using the default: ", {"ptl": "nix"}),
                ("unknown component sasl for framework psec", {"psec": "sasl"}),
                ('"here": expected absolute paths', {"mca_base_component_path": "here"}),
                ("/nix is not used: No such file", {"mca_base_component_path": self.top + "/nix"}),
                (re.escape(parts) + "/pmix_mca_tenon_ptl_broken.so", {})):
            with self.subTest(pattern):
                self.check_finds(pattern, **{"PMIX_MCA_" + k: v for k, v in env.items()})

    def test_texts_that_components_refuse(self):
        file = self.write("etc/pmix-mca-params.conf", "pnet_ports_udp = 1-\n")
        stars, none = r"'\*' stands for the rest of a name, at byte ", "expected a port.*, at byte "
        for name, value, why in (
                ("forward_envars", "FW_*B", stars + "3"), ("pnet_envar_patterns", "FW_A;F*W", stars + "6"),
                ("forward_envars", "A;B=C", "no name has a '=', at byte 3"), ("forward_envars", ";!", "the name is missing, at byte 2"),
                ("forward_envars_exclude", "FW_[AB]", "this is not part of a pattern, at byte 3"),
                ("pnet_ports_tcp", "32000-32100,x", none + "12"), ("pnet_ports_tcp", "0", none + "0")):
            with self.subTest(value):
                out = self.check_finds("environment: PMIX_MCA_%s = \"%s\": %s; using the default, $"
                                       % (name, re.escape(value), why), **{"PMIX_MCA_" + name: value})
                self.assertRegex(out, "%s:1: pnet_ports_udp = \"1-\": %s0; using the default, \n"
                                 % (re.escape(file), none))
                self.assertEqual(len(out.splitlines()), 2)
        self.write("etc/pmix-mca-params.conf", "")
        right = {"forward_envars": "FW_*;!FW_?;;^A", "forward_envars_exclude": "B", "pnet_ports_udp": "1,7-8"}
        self.assertEqual(self.run_info("--check", **{"PMIX_MCA_" + k: v for k, v in right.items()}), WELL)

    def test_wrong_abi(self):
        self.folder("ptl_oldabi", "ptl_oldfw", "ptl_a")
        out = self.check_finds("has component ABI 99, wanted 1")
        self.assertIn("has ptl ABI 98, wanted 1", out)
        self.assertEqual(len(out.splitlines()), 2)

    def test_components_that_end_their_process(self):
        abort = self.compile("ptl_abort", "abort();")
        leave = self.compile("ptl_leave", "_exit(3);")
        out = self.check_finds(re.escape(abort) + r": it crashed in its constructors \(Aborted\)")
        self.assertIn(leave + ": it ended its process in its constructors (status 3)", out)

    def test_components_that_hang_or_close_everything(self):
        self.compile("ptl_hang", "for (;;) pause();")
        self.compile("ptl_shut", "for (int i = 0; i < 100; i++) close(i); for (;;) pause();")
        out = self.check_finds(r"ptl_hang.so: it has not returned from its constructors within 1 s",
                               PMIX_MCA_mca_base_component_probe="1s")
        self.assertIn("ptl_shut.so: it crashed in its constructors (Killed)", out)

    def test_component_that_talks(self):
        self.compile("ptl_talk", 'puts("hello"); fflush(stdout); fputs("hello", stderr);')
        got = self.json()
        self.assertIn("has no symbol px_ptl_talk_component", "\n".join(p["text"] for p in got["problems"]))

    def test_excluded_component_may_be_broken(self):
        self.compile("ptl_abort", "abort();")
        self.assertEqual(self.run_info("--check", PMIX_MCA_ptl="^abort"), WELL)
        self.assertEqual([p["severity"] for p in self.json(PMIX_MCA_ptl="^abort")["problems"]], ["note"])

    def test_shadowed_component(self):
        first = self.folder("ptl_a")
        second = os.path.join(self.top, "second")
        shutil.copytree(first, second)
        self.check_finds(r"%s/pmix_mca_tenon_ptl_a.so is not used: %s/pmix_mca_tenon_ptl_a.so comes first" % (second, first),
                         PMIX_MCA_mca_base_component_path=first + ":" + second)
        self.assertEqual(self.run_info("--check", PMIX_MCA_mca_base_component_path=first + ":" + first), WELL)

    @unittest.skipUnless(os.geteuid() == 0, "only root mistrusts files")
    def test_root_trusts_no_open_folder(self):
        path = self.folder("ptl_a")
        os.chmod(path, 0o777)
        self.check_finds(re.escape(path) + " is writable by all users")
        os.chmod(path, 0o755)
        os.chmod(path + "/pmix_mca_tenon_ptl_a.so", 0o777)
        self.check_finds("pmix_mca_tenon_ptl_a.so is writable by all users")


class Leftovers(Case):
    """Leftovers of dead servers in --check."""

    def setUp(self):
        super().setUp()
        self.tmp = os.path.join(self.top, "tmp")

    def dead_pid(self):
        p = subprocess.Popen(["true"])
        p.wait()
        return p.pid

    def rendezvous(self, name, pid, where="tmp"):
        return self.write("%s/%s" % (where, name), "server.0;tcp4://127.0.0.1:1\n4.2.9\n%d\n0:0\ntoday\n\n" % pid, 0o600)

    def private(self, name="pmix-server.AbCdEf", where="tmp"):
        path = os.path.join(self.top, where, name)
        os.makedirs(path, mode=0o700)
        return path

    def left(self, *dirs, **env):
        out = self.run_info("--check", *dirs, want=1, **env)
        self.assertTrue(out.startswith(WELL))
        for line in out.splitlines()[1:]:
            self.assertRegex(line, r"\Aleft: /")
        return out.splitlines()[1:]

    def nothing_left(self, *dirs, **env):
        self.assertEqual(self.run_info("--check", *dirs, **env), WELL)

    def test_folder_without_a_journal(self):
        path = self.private()
        line, = self.left()
        self.assertRegex(line, r"\Aleft: %s: folder of a server that has ended, uid %d, \d+ s old; to "
                         r"remove: 0, processes that live: 0; it has no journal\Z" % (re.escape(path), os.geteuid()))

    def test_folder_that_is_locked(self):
        fd = os.open(self.private(), os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_EX)
        self.nothing_left()
        fcntl.flock(fd, fcntl.LOCK_UN)
        self.assertEqual(len(self.left()), 1)
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # pmix_info has released its lock
        os.close(fd)

    def test_journals_that_are_none(self):
        path = os.path.join(self.private(), "journal")
        for content in (b"", b"no journal at all" * 100, b"\x00" * 64, os.urandom(4096)):
            with open(path, "wb") as f:
                f.write(content)
            self.assertRegex(self.left()[0], "its journal is not valid")
        other = self.write("tmp/other", "x")
        for what, make in (("cannot be read", lambda: os.symlink("/etc/passwd", path)),
                           ("is not valid", lambda: os.mkfifo(path)),
                           ("is not valid", lambda: os.link(other, path)),
                           ("is too long to be looked at", lambda: subprocess.check_call(["truncate", "-s", "1T", path]))):
            os.remove(path)
            make()
            self.assertRegex(self.left()[0], "its journal " + what)

    def test_names_that_are_no_folders(self):
        self.write("tmp/pmix-server.a", "x")
        os.symlink("/etc", os.path.join(self.tmp, "pmix-server.b"))
        os.mkfifo(os.path.join(self.tmp, "pmix.c"))
        os.symlink(self.rendezvous("elsewhere", self.dead_pid()), os.path.join(self.tmp, "pmix.d"))
        os.mkdir(os.path.join(self.tmp, "pmix.e"))
        self.write("tmp/pmix.f", "no address\n")
        self.write("tmp/pmix.g", "")
        self.write("tmp/pmix.h", "server.0;tcp4://127.0.0.1:1\n" + "x" * 5000)
        self.write("tmp/pmix.i", "server.0;tcp4://127.0.0.1:1\n2.0\n")  # without a process
        self.nothing_left()

    def test_rendezvous_files(self):
        pid = self.dead_pid()
        path = self.rendezvous("pmix.sys.host", pid)
        self.rendezvous("pmix.host.1", os.getpid())
        self.assertRegex(self.left()[0], r"\Aleft: %s: file of the server that was process %d, uid %d, \d+ s old\Z"
                         % (re.escape(path), pid, os.geteuid()))
        self.assertEqual(len(self.left()), 1)

    def test_rendezvous_file_that_is_locked(self):
        path = self.rendezvous("pmix.sys.host", self.dead_pid())
        fd = os.open(path, os.O_RDWR)
        lock = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(fd, 37, lock)  # F_OFD_SETLK
        self.nothing_left()
        os.close(fd)
        self.assertEqual(len(self.left()), 1)

    def test_folders_to_look_into(self):
        pid = self.dead_pid()
        path = {name: self.rendezvous("pmix.sys.host", pid, name) for name in ("a", "b", "c", "d", "e", "e/deeper")}
        env = {n: os.path.join(self.top, d) for n, d in (
            ("PMIX_SERVER_TMPDIR", "a"), ("PMIX_SYSTEM_TMPDIR", "b"), ("TMPDIR", "c"), ("TEMP", "d"))}
        found = self.left(self.top + "/e", self.top + "/a", **env)
        self.assertEqual([re.match("left: (.*?): ", line)[1] for line in found],
                         [path[n] for n in ("a", "b", "c", "e")])
        self.assertRegex(self.run_info("--check", "/no/such/folder", want=1),
                         "(?m)^wrong: cannot look for leftovers in /no/such/folder: No such file")
        self.run_info(self.top, want=2)
        self.assertRegex(self.err, "unexpected argument " + re.escape(self.top))

    def test_formats(self):
        pid = self.dead_pid()
        file = self.rendezvous("pmix.sys.a\nb", pid)
        os.utime(file, (0, time.time() - 90000))
        folder = self.private()
        self.assertRegex(self.left()[1], r"pmix.sys.a\?b: file .*, 25 h old\Z")
        out = self.run_info("--check", "--parsable", want=1)
        self.assertRegex(out, r"(?m)^left:folder:%d:\d+:0:0:0:%s$" % (os.geteuid(), re.escape(folder)))
        self.assertRegex(out, r"(?m)^left:file:%d:9000\d:%d:0:0:%s/pmix.sys.a\\nb$" % (os.geteuid(), pid, self.tmp))
        got = json.loads(self.run_info("--check", "--json", want=1))
        self.assertIsNone(conforms("leftovers", got["leftovers"]))
        self.assertEqual([(g["kind"], g["path"], g["pid"], g["note"]) for g in got["leftovers"]],
                         [("folder", folder, None, "it has no journal"), ("file", file, pid, None)])

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be somebody else")
    def test_users_see_their_own_and_root_sees_all(self):
        os.chmod(self.top, 0o755)
        os.chmod(self.tmp, 0o1777)
        theirs, ours = self.private("pmix-server.theirs"), self.rendezvous("pmix.sys.ours", self.dead_pid())
        os.chmod(ours, 0o644)
        os.chown(theirs, 12345, 12345)
        self.assertEqual(len(self.left()), 2)
        p = subprocess.run(["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", INFO, "--check"],
                           env=self.env, check=False, capture_output=True, text=True)
        if p.returncode in (126, 127):
            self.skipTest("another user cannot reach the build folder")
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertEqual(re.findall("(?m)^left: (.*?):", p.stdout), [theirs])

    def test_nothing_is_changed(self):
        self.private()
        self.rendezvous("pmix.sys.host", self.dead_pid())
        ls = ["ls", "-lai", "--time-style=full-iso", "-R", self.tmp]
        before = subprocess.check_output(ls)
        self.left()
        self.assertEqual(before, subprocess.check_output(ls))


class Harmless(Case):
    def test_no_component_is_opened(self):
        trace = os.path.join(self.top, "trace")
        self.folder("ptl_a", "gds_a")
        self.run_info("--all", PMIX_MCA_ptl_a_trace=trace, PMIX_MCA_gds_a_trace=trace)
        self.assertFalse(os.path.exists(trace))

    def test_components_of_vendors_are_loaded_in_a_child_first(self):
        log = os.path.join(self.top, "log")
        self.compile("ptl_log", 'FILE *f = fopen("%s", "a"); fprintf(f, "%%d ", getpid()); fclose(f);' % log)
        p = subprocess.Popen([INFO, "--all"], stdout=subprocess.DEVNULL, env=self.env)
        self.assertEqual(p.wait(60), 0)
        with open(log, encoding="utf-8") as f:
            child, itself = f.read().split()
        self.assertEqual(itself, str(p.pid))
        self.assertNotEqual(child, itself)

    @unittest.skipIf(SANITIZED, "all is slow")
    def test_takes_less_than_50_ms(self):
        """Counts processor time, which other work on the machine hardly changes. The real time shows that it does not wait."""
        def clocks():
            return time.monotonic(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])

        best = (2.0, 1.0)
        for _ in range(20):
            start = clocks()
            self.run_info("--all")
            best = tuple(min(b, end - s) for b, end, s in zip(best, clocks(), start))
        self.assertLess(best[0], 1)
        self.assertLess(best[1], 0.05)


if __name__ == "__main__":
    unittest.main(verbosity=2)
