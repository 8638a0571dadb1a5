#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A setuid program in the environment of another user. The program is compiled as any program of an installed library, and runs as a
client, as a tool, and as a singleton that starts the user's host. Without the setuid bit it joins the user's server, loads the user's
component, and reads the user's parameters. With the bit it does none of that. Needs root, a compiler, and setuid programs in /tmp. meson sets TENON_BUILD."""
import os
import re
import shlex
import subprocess
import sys
import time

from px_test import NOBODY, Place, adopt_orphans, become, kill_descendants, others_can_run
from px_wire import environment

BUILD, SOURCE = os.environ["TENON_BUILD"], os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
PMIXRUN = os.path.join(BUILD, "contrib/tools/pmixrun")
CC = shlex.split(os.environ.get("CC", "cc"))
START_S = 20
OWNER = NOBODY + 1  # of the program
REFUSAL = "cannot start a host for this singleton: the program has more rights than its user"
DEBUG_LINES = 5     # at least, with the parameter of the user; a program without may have a line or two

PROGRAM = """
#include <pmix_tool.h>
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
    pmix_proc_t me;
    pmix_info_t info;
    int tool = argc > 1 && !strcmp(argv[1], "tool");
    pmix_status_t rc = tool ? PMIx_tool_init(&me, NULL, 0) : PMIx_Init(&me, NULL, 0);
    if (argc > 1 && !tool) {
        PMIx_Info_load(&info, "secure.key", "text", PMIX_STRING);
        rc = PMIx_Publish(&info, 1);
    }
    printf("%s %s\\n", PMIx_Error_string(rc), rc ? "" : me.nspace);
    return tool ? PMIx_tool_finalize() : PMIx_Finalize(NULL, 0);
}
"""
COMPONENT = """
#include <stdio.h>
__attribute__((constructor)) static void begin(void) { puts("the component is loaded"); fflush(stdout); }
"""


def build(place, name, text, *options):
    path = os.path.join(place.dir, name)
    subprocess.run([*CC, "-x", "c", "-", "-o", path, *options], input=text, text=True, check=True)
    return path


def begin_server(place):
    """Starts a server of the user, and returns the environment of its rank."""
    path = os.path.join(place.dir, "environment")
    server = subprocess.Popen([PMIXRUN, "--tools", "sh", "-c",
                               'cat /proc/$$/environ >"$0.new" && mv "$0.new" "$0" && exec sleep 100', path],
                              env=place.env, cwd="/", stdin=subprocess.DEVNULL, **place.who)
    end = time.monotonic() + START_S
    while not os.path.exists(path):
        if time.monotonic() > end or server.poll() is not None:
            sys.exit("the server does not start")
        time.sleep(0.01)
    return environment(path)


def main():
    if os.geteuid() != 0 or os.statvfs("/tmp").f_flag & os.ST_NOSUID or not others_can_run(PMIXRUN):
        print("SKIP: needs root, setuid programs in /tmp, and a build folder that other users can read")
        return 77
    adopt_orphans()
    place, failed = Place(NOBODY), 0
    try:
        os.chmod(place.dir, 0o755)
        core = os.path.join(BUILD, "core")
        program = build(place, "program", PROGRAM, "-I" + os.path.join(SOURCE, "include"), "-I" + os.path.join(BUILD, "include"),
                        "-L" + core, "-lpmix", "-Wl,-rpath," + core)
        build(place, "pmix_mca_tenon_gds_spy.so", COMPONENT, "-shared", "-fPIC")
        os.makedirs(os.path.join(place.dir, "home/.pmix"))
        with open(os.path.join(place.dir, "home/.pmix/mca-params.conf"), "w") as f:
            f.write("mca_base_verbose = debug\n")
        rank = {**begin_server(place), "HOME": os.path.join(place.dir, "home"), "PMIX_MCA_mca_base_component_probe": "0",
                "PMIX_MCA_mca_base_component_path": place.dir + ":" + os.path.join(core, "pmix")}
        # The tool has no address, and finds the server by its rendezvous file.
        searching = {k: v for k, v in rank.items() if not re.match("PMIX_(?!MCA_)|TENON_", k)}
        alone = {**searching, "PMIX_MCA_client_singleton_program": PMIXRUN}
        for role, env in (([], rank), (["tool"], searching), (["singleton"], alone)):
            for mode in (0o755, 0o4755):
                os.chown(program, OWNER, OWNER)
                os.chmod(program, mode)
                done = subprocess.run([program, *role], env=env, capture_output=True, text=True, timeout=60, check=False,
                                      **become(NOBODY))
                seen = {"server": bool(re.search("^(PMIX_)?SUCCESS ", done.stdout, re.M)),
                        "component": "the component is loaded" in done.stdout, "parameters": done.stderr.count("tenon[") >= DEBUG_LINES}
                if role == ["singleton"]:
                    seen["starts"] = REFUSAL not in done.stderr
                if set(seen.values()) != {mode == 0o755}:
                    failed += 1
                    print("mode %o, %s: %s: %s%s" % (mode, role or "client", seen, done.stdout, done.stderr[-2000:]))
    finally:
        kill_descendants(500)
        place.remove()
    print("%d failed" % failed)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
