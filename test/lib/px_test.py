# SPDX-License-Identifier: BSD-3-Clause
"""Common part of the Python tests; times.h is the counterpart for C."""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

NOBODY = 12345
SHM = "/dev/shm"
WALL = 0x40000000  # __WALL: also children that send no signal
PR_SET_CHILD_SUBREAPER = 36


def times(short_form, long_form, wide_form=None):
    """Returns the number of tries: in the long form (PX_TEST_LONG), in the wide form (PX_TEST_WIDE), or else."""
    factor = int(os.environ.get("PX_TEST_LONG") or 0)
    if factor > 0:
        return long_form * factor
    return wide_form if wide_form is not None and os.environ.get("PX_TEST_WIDE") else short_form


def kill(pid, signum=signal.SIGKILL):
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        pass


def become(uid):
    """Returns arguments of subprocess for a program of that user, as root; otherwise none."""
    return {"user": uid, "group": uid, "extra_groups": []} if uid and os.geteuid() == 0 else {}


def others_can(how, paths):
    return all(subprocess.run(["test", how, path], check=False, **become(NOBODY)).returncode == 0 for path in paths)


def others_can_run(*programs):
    """True if other users can execute the programs: the build folder may be closed to them."""
    return others_can("-x", programs)


def others_can_read(*files):
    return others_can("-r", files)


class Place:
    """A folder for a job: the TMPDIR in env. Names of the job in /dev/shm begin with the folder's name. who: arguments
    of subprocess for the user."""

    def __init__(self, uid=0, **env):
        self.dir, self.who = tempfile.mkdtemp(prefix="tn.", dir="/tmp"), become(uid)
        self.prefix = os.path.basename(self.dir)
        if self.who:
            os.chown(self.dir, uid, uid)
        self.env = {k: v for k, v in os.environ.items()
                    if not re.match("(PMIX_|TENON_SERVER_URI|OMPI_|SLURM|LD_)", k)}
        self.env.update(env, HOME="/nonexistent", TMPDIR=self.dir, LITTER=self.prefix)

    def files(self):
        """Returns the paths of all files and folders."""
        found = [os.path.join(SHM, name) for name in os.listdir(SHM) if name.startswith(self.prefix)]
        for top, folders, files in os.walk(self.dir):
            found += [os.path.join(top, name) for name in folders + files]
        return found

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        for path in self.files():
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def alone(*options):
    """Continues, as root where allowed, in a mount namespace with a private /dev/shm, and with further options of
    unshare. A shell is the first process, and reaps orphans."""
    if "TENON_PRIVATE_SHM" in os.environ or os.geteuid() != 0:
        return
    command = ["unshare", "-m", "--propagation", "private", *options, "sh", "-c",
               'mount -t tmpfs -o mode=1777 tmpfs %s && "$@"; exit $?' % SHM, "sh"]
    done = subprocess.run([*command, "true"], check=False, stderr=subprocess.DEVNULL)
    os.environ["TENON_PRIVATE_SHM"] = "no" if done.returncode else "yes"
    if not done.returncode:
        os.execvp("unshare", [*command, sys.executable, *sys.argv])


def adopt_orphans():
    """Makes this process the parent of all orphans, to find all processes that a server leaves."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot become a subreaper")


def begin_to_kill():
    """Prepares a test that kills servers: it has its own /dev/shm, and each orphan is a child of this process."""
    if not os.path.exists("/proc/self/exe"):
        print("needs /proc")
        sys.exit(77)
    alone()
    adopt_orphans()


def processes():
    """Returns {pid: (parent, state, name)} of all processes."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, "rb") as f:
                text = f.read()
        except OSError:
            continue
        comm, rest = text.rsplit(b")", 1)
        state, parent = rest.split()[:2]
        found[int(name)] = (int(parent), state.decode(),
                            comm.split(b"(", 1)[1].decode("utf-8", "replace"))
    return found


def descendants():
    """Returns [(pid, name)] of our descendants, and reaps zombies."""
    table = processes()
    top, found = os.getpid(), []
    for pid, (parent, state, name) in table.items():
        above, seen = parent, set()
        while above != top and above in table and above not in seen:
            seen.add(above)
            above = table[above][0]
        if above != top:
            continue
        if state in "ZX":
            if parent == os.getpid():
                reap(pid)
        else:
            found.append((pid, name))
    return found


REAPED = {}  # pid: exit status, or minus the signal, of children that reap() has reaped


def reap(pid):
    try:
        done, status = os.waitpid(pid, os.WNOHANG | WALL)
        if done:
            REAPED[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        pass


def kill_descendants(tries):
    """Kills all descendants, also those that start meanwhile; looks up to tries times."""
    for _ in range(tries):
        left = descendants()
        if not left:
            break
        for pid, _name in left:
            kill(pid)
        time.sleep(0.01)
