#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Parameters from each source, up to PMIx_Init: precedence, recorded sources, and the exact line for each mistake.
param_probe calls PMIx_Init; meson sets TENON_BUILD. Arguments are unittest's: -k PATTERN, -v."""
import glob
import os
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["TENON_BUILD"]
HAS_MUNGE = os.path.exists(os.path.join(BUILD, "core/pmix/pmix_mca_tenon_psec_munge.so"))
KNOWN_PSEC = "munge, native" if HAS_MUNGE else "native"
SANITIZED = bool(os.environ.get("TENON_SANITIZE"))
NOBODY = 65534
NAME = "client_connect_timeout"
OTHER = "client_finalize_timeout"
EXPECTED = "expected a duration such as 250ms, 5s, 2m or 1h, from 1 to 3600000 ms"
NAME_RULE = "a name has letters, digits and _ - . only"
QUOTES = "a quoted value must end with the same quote, and the line with it"
SOURCES = ["system", "user", "named", "env", "tune", "info", "override"]  # weakest first
HEAD = re.compile(r"^tenon\[[^]]*\] (param|client): ")


class Result:
    def __init__(self, status, out, err, cpu_s, rss_kb):
        self.status, self.out, self.err = status, out, err
        self.cpu_s, self.rss_kb = cpu_s, rss_kb

    @property
    def lines(self):
        """Returns the lines of the log without their heads."""
        return [HEAD.sub("", line) for line in self.err.splitlines()]


class Place(unittest.TestCase):
    """A test with folders of its own for every source."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="tn.")
        os.chmod(cls.root, 0o755)
        cls.probe = os.path.join(cls.root, "param_probe")
        cls.components = os.path.join(cls.root, "components")
        # Copies for other users, because the build folder may be closed to them.
        shutil.copy(os.path.join(BUILD, "test/unit/config/param_probe"), cls.probe)
        os.mkdir(cls.components)
        for so in glob.glob(os.path.join(BUILD, "core/pmix/pmix_*.so")):
            shutil.copy(so, cls.components)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.clear()

    def clear(self):
        self.dir = tempfile.mkdtemp(prefix="long." * 20, dir=self.root)  # messages do not cut paths
        os.chmod(self.dir, 0o755)
        for folder in ("etc", "home/.pmix"):
            os.makedirs(os.path.join(self.dir, folder))
        self.env = {"HOME": self.path("home"), "PMIX_SYSCONFDIR": self.path("etc"),
                    "PMIX_MCA_mca_base_component_path": self.components,
                    "PATH": os.environ.get("PATH", ""), "LC_ALL": "C"}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.info = []

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def file_of(self, source):
        return self.path({"system": "etc/pmix-mca-params.conf",
                          "user": "home/.pmix/mca-params.conf",
                          "named": "named.conf", "tune": "tune.conf",
                          "override": "etc/pmix-mca-params-override.conf"}[source])

    def write(self, path, text):
        mode = "wb" if isinstance(text, bytes) else "w"
        with open(path, mode) as f:
            f.write(text)
        return path

    def name_files(self, source):
        key = {"named": "mca_base_param_files", "tune": "mca_base_tune_files"}.get(source)
        if key:
            self.env["PMIX_MCA_" + key] = self.file_of(source)

    def put(self, source, text):
        """Writes a whole file of that source."""
        self.name_files(source)
        return self.write(self.file_of(source), text)

    def set(self, source, name, value):
        """Sets a parameter in that source; returns the place as in messages."""
        if source == "env":
            self.env["PMIX_MCA_" + name] = value
            return "environment"
        if source == "info":
            self.info.append("%s=%s" % (name, value))
            return "info of PMIx_Init"
        return self.put(source, "# comment\n%s = %s\n" % (name, value)) + ":2"

    def run_probe(self, *names, uid=None, seconds=300):
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        before = {"user": uid, "group": uid, "extra_groups": []} if uid else {}
        p = subprocess.Popen([self.probe, *self.info, "--", *names], env=self.env, cwd="/",
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, errors="replace", **before)
        try:
            out, err = p.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            p.kill()
            self.fail("does not end")
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        return Result(p.returncode, out, err, cpu_s, end.ru_maxrss)

    def says(self, lines, status=0, **how):
        r = self.run_probe(**how)
        self.assertEqual(r.lines, lines)
        self.assertEqual(r.status, status, r.out)
        return r

    def shown(self, source):
        """Returns NAME of that source as in messages."""
        return ("PMIX_MCA_" if source == "env" else "") + NAME


class Precedence(Place):
    def test_no_source_sets_it(self):
        r = self.run_probe(NAME)
        self.assertEqual((r.status, r.out, r.err), (0, NAME + " is unset\n", ""))

    def test_each_against_each(self):
        """All ordered pairs: 11s in the first source, 22s in the second; a pair of equal sources: 11s alone."""
        for first in SOURCES:
            for second in SOURCES:
                with self.subTest(first=first, second=second):
                    self.clear()
                    where = {first: self.set(first, NAME, "11s")}
                    if second != first:
                        where[second] = self.set(second, NAME, "22s")
                    winner = max(where, key=SOURCES.index)
                    loser = min(where, key=SOURCES.index)
                    value = {first: "11s", second: "22s"} if first != second else {first: "11s"}
                    r = self.run_probe(NAME)
                    self.assertEqual(r.out, "%s = %s (%s)\n" % (NAME, value[winner],
                                                                where[winner]))
                    note = []
                    if winner == "override" and loser not in ("system", "override"):
                        note = ['%s: %s = "%s" overrules "%s" of %s' % (
                            where[winner], NAME, value[winner], value[loser], where[loser])]
                    self.assertEqual(r.lines, note)

    def test_all_at_once_then_one_less(self):
        for n in range(len(SOURCES), 0, -1):
            self.clear()
            where = [self.set(source, NAME, "%ds" % (i + 1))
                     for i, source in enumerate(SOURCES[:n])]
            r = self.run_probe(NAME)
            self.assertEqual(r.out, "%s = %ds (%s)\n" % (NAME, n, where[-1]))

    def test_bad_value_gives_way_to_each_weaker_source(self):
        for bad in SOURCES:
            for good in ["default"] + SOURCES[:SOURCES.index(bad)]:
                with self.subTest(bad=bad, good=good):
                    self.clear()
                    fallback = "the default, 60s"
                    if good != "default":
                        fallback = '"11s" of ' + self.set(good, NAME, "11s")
                    where = self.set(bad, NAME, "banana")
                    r = self.run_probe()
                    self.assertEqual(r.lines[0], '%s: %s = "banana": %s; using %s' % (
                        where, self.shown(bad), EXPECTED, fallback))
                    note = bad == "override" and good not in ("default", "system")
                    self.assertEqual(len(r.lines), 1 + note)

    def test_override_agrees(self):
        self.set("override", NAME, "11s")
        self.set("env", NAME, "11s")
        self.says([])

    def test_last_of_several_named_files_wins(self):
        a = self.write(self.path("a.conf"), NAME + " = 1s\n")
        b = self.write(self.path("b.conf"), NAME + " = 2s\n")
        self.env["PMIX_MCA_mca_base_param_files"] = a + ":" + b
        self.assertEqual(self.run_probe(NAME).out, "%s = 2s (%s:1)\n" % (NAME, b))

    def test_user_file_elsewhere(self):
        self.set("user", NAME, "1s")
        self.env["PMIX_MCA_mca_base_user_param_file"] = \
            self.write(self.path("mine.conf"), NAME + " = 2s\n")
        self.assertEqual(self.run_probe(NAME).out,
                         "%s = 2s (%s:1)\n" % (NAME, self.path("mine.conf")))

    @unittest.skipIf(SANITIZED, "the leak checker cannot trace a setuid program")
    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_setuid_program_ignores_environment_and_home(self):
        if os.statvfs(self.dir).f_flag & os.ST_NOSUID:
            self.skipTest("needs setuid programs in TMPDIR")
        where = self.set("user", NAME, "1s")
        self.set("env", OTHER, "2s")
        self.env["PMIX_NAMESPACE"], self.env["PMIX_RANK"] = "job", "0"
        self.probe = shutil.copy(type(self).probe, self.path("param_probe"))
        os.symlink(self.components, self.path("pmix"))
        os.chown(self.probe, NOBODY, NOBODY)
        for mode, out in ((0o755, "%s = 1s (%s)\n%s = 2s (environment)\nPMIX_NAMESPACE is job\n"
                           % (NAME, where, OTHER)),
                          (0o4755, "%s is unset\n%s is unset\nPMIX_NAMESPACE is unset\n"
                           % (NAME, OTHER))):
            os.chmod(self.probe, mode)
            self.assertEqual(self.run_probe(NAME, OTHER, "PMIX_NAMESPACE").out, out)

    def test_other_ranks_are_silent(self):
        self.set("env", "client_conect_timeout", "1s")
        self.env["PMIX_NAMESPACE"], self.env["PMIX_RANK"] = "job", "1"
        r = self.run_probe()  # cannot connect, which is another matter
        self.assertNotIn("unknown parameter", r.err)
        self.env["PMIX_RANK"] = "0"
        self.assertIn("unknown parameter", self.run_probe().err)


USES_DEFAULT = EXPECTED + "; using the default, 60s"
# (mistake; true if mca_base_strict applies; settings (source, name, value) or files (source, text); the expected line or
# None). {at} is the place of the last setting, {user} the user's file.
MISTAKES = [
    ("unknown name, nearest", True, [("user", "client_conect_timeout", "5s")],
     '{at}: unknown parameter client_conect_timeout = "5s"; did you mean client_connect_timeout?'),
    ("unknown name of the environment", True, [("env", "serverr_handshake_timeout", "5s")],
     '{at}: unknown parameter PMIX_MCA_serverr_handshake_timeout = "5s"; did you mean server_handshake_timeout?'),
    ("unknown name, near another implementation's", True, [("env", "forward_envar", "A")],
     '{at}: unknown parameter PMIX_MCA_forward_envar = "A"; did you mean forward_envars?'),
    ("unknown name, nothing near", True, [("info", "zzz_qqq", "1")], '{at}: unknown parameter zzz_qqq = "1"'),
    ("unparsable", True, [("system", NAME, "soon")], '{at}: %s = "soon": %s' % (NAME, USES_DEFAULT)),
    ("out of range", True, [("env", NAME, "2h")], '{at}: PMIX_MCA_%s = "2h": %s' % (NAME, USES_DEFAULT)),
    ("no such component beside one that exists", True, [("env", "ptl", "tcp,nonesuch")],
     '{at}: ptl = "tcp,nonesuch": unknown component nonesuch, known: tcp, usock'),
    ("no such component", True, [("env", "gds", "ds21")],
     '{at}: gds = "ds21": unknown component ds21; using the default: hash, shm'),
    ("no protection", True, [("env", "psec", "none")],
     '{at}: psec = "none": unknown component none; using the default: ' + KNOWN_PSEC),
    ("include and exclude", True, [("user", "ptl", "usock,^tcp")],
     '{at}: ptl = "usock,^tcp": expected a list to use, "a,b", or one to leave out, "^a,b", not both'),
    ("twice in one file", True, [("user", "%s = 1s\n%s = 2s\n" % (NAME, NAME))],
     '{user}:2: %s = "2s": was "1s" at {user}:1; the last counts' % NAME),
    ("twice the same in one file", False, [("user", "%s = 1s\n%s = 1s\n" % (NAME, NAME))], None),
    ("foreign name that does not apply", False, [("user", "gds_ds21_num_locks", "4")],
     "{at}: gds_ds21_num_locks does not apply: the datastore needs no tuning of that kind"),
    ("foreign name in the environment", False, [("env", "gds_ds21_num_locks", "4")], None),
    ("foreign name that means ours", False, [("user", "ptl_base_handshake_wait_time", "4")], None),
    ("foreign name with a bad value", True, [("user", "ptl_base_connection_wait_time", "soon")],
     '{at}: ptl_base_connection_wait_time = "soon": ' + USES_DEFAULT),
    ("override beats the user", False, [("user", NAME, "2s"), ("override", NAME, "1s")],
     '{at}: %s = "1s" overrules "2s" of {user}:2' % NAME),
    ("named file that is not there", True, [("env", "mca_base_param_files", "/nonesuch.conf")],
     "{at}: parameter file /nonesuch.conf not read: No such file or directory"),
    ("named file that is relative", True, [("env", "mca_base_param_files", "x.conf")],
     '{at}: mca_base_param_files = "x.conf": expected absolute paths'),
    ("included file that is not there", True, [("user", "include no.conf\n")],
     "{user}:1: parameter file {folder}/no.conf not read: No such file or directory"),
    ("strict itself", True, [("user", "mca_base_strict", "loud")],
     '{at}: mca_base_strict = "loud": expected one of off, warn, error{default}'),
    ("nothing", False, [], None),
]


class Mistakes(Place):
    def each_class(self, strict):
        for name, wrong, settings, line in MISTAKES:
            with self.subTest(name, strict=strict):
                self.clear()
                if strict:
                    self.env["PMIX_MCA_mca_base_strict"] = strict
                for setting in settings:
                    at = (self.set if len(setting) == 3 else self.put)(*setting)
                user = self.file_of("user")
                yield wrong, [line.format(at=at, user=user, folder=os.path.dirname(user),
                                          default="" if strict else "; using the default, warn")] if line else []

    def test_warn_logs_one_line_and_goes_on(self):
        for strict in (None, "warn"):
            for _, lines in self.each_class(strict):
                self.says(lines)

    def test_error_fails_with_one_line(self):
        for wrong, lines in self.each_class("error"):
            if wrong:
                r = self.says(["PMIx_Init: " + lines[0]], status=1)
                self.assertIn(r.out, ("BAD-PARAM\n", "PMIX_ERR_BAD_PARAM\n"))
            else:
                self.says(lines)

    def test_off_is_silent(self):
        for _ in self.each_class("off"):
            self.says([])

    def test_several_mistakes_with_error_have_a_line_each(self):
        self.put("user", "aaa_bbb = 1\n%s = soon\n" % NAME)
        self.env["PMIX_MCA_mca_base_strict"] = "error"
        r = self.run_probe()
        self.assertEqual(r.status, 1)
        self.assertEqual(len(r.lines), 2)

    def test_only_protection_that_does_not_exist_fails_whatever_strict_is(self):
        for strict in ("warn", "error", "off"):
            self.clear()
            self.set("env", "psec", "sasl")
            self.env["PMIX_MCA_mca_base_strict"] = strict
            r = self.says(["PMIx_Init: unknown component sasl for framework psec, "
                           "known: %s (from environment)" % KNOWN_PSEC], status=1)
            self.assertIn(r.out, ("BAD-PARAM\n", "PMIX_ERR_BAD_PARAM\n"))

    def test_values_and_names_with_control_characters_stay_one_line(self):
        for value in ("1\ntenon[x:1] param: all is well", "\x1b[2J1s", "1\r2", "\x7f\b1"):
            self.clear()
            self.set("env", NAME, value)
            r = self.run_probe()
            self.assertEqual(r.err.count("\n"), 1, r.err)
            self.assertTrue(r.err.endswith("using the default, 60s\n"))
            self.assertNotRegex(r.err[:-1], "[\x00-\x1f\x7f]")

    def test_environment_names_that_nothing_can_have(self):
        for name in ("a b", "", "a/b", "a\nb", "\u00e9", "x" * 3000 + "%s"):
            self.clear()
            self.env["PMIX_MCA_" + name] = "1"
            r = self.run_probe()
            self.assertEqual((r.status, r.err.count("\n")), (0, 1), r.err)
            self.assertTrue(r.err.endswith('": %s\n' % NAME_RULE), r.err)

    def test_a_thousand_mistakes_end_after_two_hundred(self):
        self.put("user", "".join("aaa_%d = 1\n" % i for i in range(1000)))
        r = self.run_probe()
        self.assertEqual(len(r.lines), 201)
        self.assertEqual(r.lines[-1], "more is wrong with the parameters")


# Contents of the user's file, and the expected message: line number and text.
MALFORMED = [
    ("no equals sign\n", 1, '"no equals sign": expected name = value'),
    ("\n\n[section]\n", 3, '"[section]": expected name = value: sections are not supported'),
    ("= 5\n", 1, '"= 5": ' + NAME_RULE),
    ("=\n", 1, '"=": ' + NAME_RULE),
    ("two words = 1\n", 1, '"two words = 1": ' + NAME_RULE),
    ("a/b = 1\n", 1, '"a/b = 1": ' + NAME_RULE),
    ("\u00fcber = 1\n", 1, '"\u00fcber = 1": ' + NAME_RULE),
    ("\ufeffmca_base_verbose = 1\n", 1, '"\ufeffmca_base_verbose = 1": ' + NAME_RULE),
    ('mca_base_verbose = "warn\n', 1, '"mca_base_verbose = "warn": ' + QUOTES),
    ("mca_base_verbose = 'warn\"\n", 1, '"mca_base_verbose = \'warn"": ' + QUOTES),
    ('mca_base_verbose = "warn" or so\n', 1, '"mca_base_verbose = "warn" or so": ' + QUOTES),
    ('mca_base_verbose = ""warn""\n', 1, '"mca_base_verbose = ""warn""": ' + QUOTES),
    ("include \n", 1, '"include": expected name = value'),
    ('include ""\n', 1, '"include """: expected the name of a file after include'),
    ("include # x\n", 1, '"include # x": expected the name of a file after include'),
    ("include 'x\n", 1, '"include \'x": ' + QUOTES),
    ("include x y\n", 1, None),
    ("a\\\n  b\\\n c\n", 1, '"a   b  c": expected name = value'),
    ("\\\n", 1, ""),
    ("x" * 100 + "\n", 1, '"%s": expected name = value' % ("x" * 63)),
    ("mca_base_verbose : warn\n", 1, '"mca_base_verbose : warn": expected name = value'),
    ("-mca mca_base_verbose 1\n", 1, '"-mca mca_base_verbose 1": expected name = value'),
    ("export PMIX_MCA_a=1\n", 1, '"export PMIX_MCA_a=1": ' + NAME_RULE),
    ("a = 1 \x1b[0m\x01", 1, None),
]


class Files(Place):
    def not_read(self, path, why, by=""):
        return "%sparameter file %s not read: %s" % (by, path, why)

    def test_malformed(self):
        file = self.file_of("user")
        for text, line, what in MALFORMED:
            with self.subTest(text=text[:40]):
                self.clear()
                file = self.put("user", text + "\n%s = 9s\n" % NAME)
                r = self.run_probe(NAME)
                self.assertEqual(r.status, 0)
                self.assertIn(NAME + " = 9s (" + file, r.out)  # the rest of the file counts
                if what:
                    what = ["%s:%d: %s" % (file, line, what)]
                    self.assertEqual(r.lines, what)
                elif what is None:
                    self.assertEqual(len(r.lines), 1)
                    self.assertNotRegex(r.err[:-1], "[\x00-\x1f\x7f]")
                else:
                    self.assertEqual(r.lines, [])

    def test_binary(self):
        file = self.put("user", b"a = 1\n\0\xff\xfe\n")
        self.says([self.not_read(file, "it is not a text file")])

    def test_ten_megabytes(self):
        self.run_probe()
        small = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        file = self.put("user", (NAME + " = 5s\n") * (10 * 1024 * 1024 // 29))
        r = self.says([self.not_read(file, "it has more than 1 MiB")])
        self.assertLess(r.cpu_s, 2)
        self.assertLess(r.rss_kb - small, 65536 if SANITIZED else 4096)

    def test_a_megabyte_of_settings_takes_no_time(self):
        if SANITIZED:
            self.skipTest("checked allocations, a million of them, take a minute")
        line = "a_b = 1\n"
        for source in ("user", "override"):
            for text in (line * (1048576 // len(line)),
                         "".join("a%05d=1\n" % i for i in range(1048576 // 9)),
                         "".join("a = %d\n" % (i % 2) for i in range(1048576 // 6)),
                         "\\\n" * 524288, "include %s\n" * 40000):
                with self.subTest(source=source, text=text[:20]):
                    self.clear()
                    text = text.replace("%s", os.path.basename(self.file_of(source)))
                    self.put(source, text)
                    r = self.run_probe()
                    self.assertEqual(r.status, 0)
                    self.assertLessEqual(len(r.lines), 201)
                    self.assertLess(r.cpu_s, 1)

    def test_includes(self):
        file = self.put("user", "include sub/a.conf # why\n%s = 1s\n" % OTHER)
        os.mkdir(self.path("home/.pmix/sub"))
        inner = self.write(self.path("home/.pmix/sub/a.conf"), 'include "b c.conf"\n')
        last = self.write(self.path("home/.pmix/sub/b c.conf"), "%s = 7s\n" % NAME)
        r = self.run_probe(NAME, OTHER)
        self.assertEqual(r.out, "%s = 7s (%s:1)\n%s = 1s (%s:2)\n" % (NAME, last, OTHER, file))
        self.assertEqual(r.err, "")
        self.write(inner, "include %s\n" % file)
        self.says([self.not_read(file, "it includes itself", inner + ":1: ")])

    def test_itself(self):
        file = self.put("user", "include mca-params.conf\n%s = 9s\n" % NAME)
        r = self.run_probe(NAME)
        self.assertEqual(r.lines, [self.not_read(file, "it includes itself", file + ":1: ")])
        self.assertIn("9s", r.out)

    def test_deep(self):
        for i in range(20):
            self.write(self.path("home/.pmix/%d.conf" % i), "include %d.conf\n" % (i + 1))
        self.put("user", "include 0.conf\n")
        self.says([self.not_read(self.path("home/.pmix/16.conf"),
                                 "files include each other too deeply",
                                 self.path("home/.pmix/15.conf:1: "))])

    def test_wide(self):
        for i in range(12):
            self.write(self.path("home/.pmix/%d.conf" % i), "include %d.conf\n" % (i + 1) * 10)
        self.write(self.path("home/.pmix/12.conf"), "")
        self.put("user", "include 0.conf\n")
        self.says(["more than 1000 parameter files: the others are not read"])

    def test_not_files(self):
        file = self.file_of("user")
        os.mkdir(file)
        self.says([self.not_read(file, "Is a directory")])
        os.rmdir(file)
        os.mkfifo(file)
        self.says([self.not_read(file, "it is not a regular file")])
        os.unlink(file)
        os.symlink(file, file)
        r = self.run_probe()  # root and other users take different paths
        self.assertEqual(len(r.lines), 1)
        self.assertIn("Too many levels of symbolic links", r.err)

    def test_home_is_a_file(self):
        self.env["HOME"] = self.write(self.path("home.txt"), "")
        self.says([])

    def test_unreadable(self):
        file = self.put("user", NAME + " = 5s\n")
        os.chmod(file, 0)
        line = self.not_read(file, "Permission denied")
        if os.geteuid():
            self.says([line])
        else:
            self.says([line], uid=NOBODY)

    @unittest.skipIf(SANITIZED, "a sanitizer wants to be loaded first")
    @unittest.skipUnless(os.path.exists("/proc/self/fd"), "needs /proc")
    def test_slow_file_system(self):
        self.put("user", "# comment\n%s = \\\n 9s # nine\n%s='8s'" % (NAME, OTHER))
        self.env["LD_PRELOAD"] = os.path.join(BUILD, "test/integration/libslow_read.so")
        self.env["SLOW_READ_LOG"] = log = self.path("log")
        r = self.run_probe(NAME, OTHER)
        file = self.file_of("user")
        self.assertEqual(r.err, "")
        self.assertEqual(r.out, "%s = 9s (%s:2)\n%s = 8s (%s:4)\n" % (NAME, file, OTHER, file))
        with open(log) as f:
            self.assertGreater(int(f.read()), 2 * os.path.getsize(file) - 2)


@unittest.skipUnless(os.path.exists("/proc/self/exe"), "needs /proc, to find the built library")
class SystemCalls(Place):
    """Files that a client opens at its start: few, and none of them twice."""

    def trace(self, *command):
        log = self.path("strace")
        env = dict(self.env, ASAN_OPTIONS="detect_leaks=0")
        del env["PMIX_MCA_mca_base_component_path"]
        strace = ["strace", "-f", "-qq", "-o", log, "-e", "trace=open,openat,access,faccessat"]
        command = [word if word != "STRACE" else strace for word in command]
        flat = [w for word in command for w in (word if isinstance(word, list) else [word])]
        r = subprocess.run(flat, env=env, cwd="/", stdin=subprocess.DEVNULL, timeout=120,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual((r.returncode, r.stderr), (0, ""))
        with open(log) as f:
            return re.findall(r'open(?:at)?\([^"]*"([^"]*)".* = (-?\d+)', f.read())

    def setUp(self):
        super().setUp()
        if not shutil.which("strace") or subprocess.run(
                ["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("strace is not installed or not allowed")
        for source in ("system", "user", "named", "tune", "override"):
            self.set(source, "mca_base_verbose", "warn")

    def judge(self, calls, transports):
        confs = [path for path, _ in calls if path.startswith(self.dir)]
        self.assertEqual(sorted(confs), sorted(map(self.file_of, (
            "system", "user", "named", "tune", "override"))))
        loaded = {os.path.basename(path) for path, fd in calls
                  if re.search(r"/pmix_\w+\.so$", path) and int(fd) >= 0}
        self.assertEqual(loaded, {"pmix_mca_tenon_gds_hash.so", "pmix_mca_tenon_gds_shm.so",
                                  "pmix_mca_tenon_psec_native.so"} | transports)
        self.assertLessEqual(len(loaded), 4)

    def test_rank_of_a_job(self):
        program = os.path.join(BUILD, "contrib/examples/hello")
        calls = self.trace(os.path.join(BUILD, "contrib/tools/pmixrun"), "-n", "1", "STRACE",
                           program)
        self.judge(calls, {"pmix_mca_tenon_ptl_usock.so"})

    def test_rank_whose_server_has_no_faster_address(self):
        program = os.path.join(BUILD, "contrib/examples/hello")
        calls = self.trace(os.path.join(BUILD, "contrib/tools/pmixrun"), "-n", "1", "env", "-u",
                           "TENON_SERVER_URI", "STRACE", program)
        self.judge(calls, {"pmix_mca_tenon_ptl_tcp.so"})

    def test_program_on_its_own(self):
        self.judge(self.trace("STRACE", os.path.join(BUILD, "contrib/examples/hello")), set())


if __name__ == "__main__":
    unittest.main()
