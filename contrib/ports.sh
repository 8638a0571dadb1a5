# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Sourced by check.sh, after need.sh: the machines of --ports. The functions port_NAME run in a root of Debian 12 that
# is for one machine only, because two machines cannot both have libevent-dev.

PORTS="i386 s390x arm64"

# Sets the names that compilers, libraries and emulator have for a machine.
port_names() { # port_names MACHINE
    MULTIARCH=
    case $1 in
        i386) TRIPLE=i686-linux-gnu MULTIARCH=i386-linux-gnu FAMILY=x86 CPU=i686 ORDER=little QEMU= ;;
        s390x) TRIPLE=s390x-linux-gnu FAMILY=s390x CPU=s390x ORDER=big QEMU=qemu-s390x ;;
        arm64) TRIPLE=aarch64-linux-gnu FAMILY=aarch64 CPU=aarch64 ORDER=little QEMU=qemu-aarch64 ;;
        *) echo "check.sh: unknown machine $1 (expected one of: $PORTS)" >&2; return 2 ;;
    esac
    MULTIARCH=${MULTIARCH:-$TRIPLE}
}

# Installs the cross compiler, the machine's libraries, and its emulator.
port_need() { # port_need MACHINE
    local package packages=
    port_names "$1" || return
    dpkg --print-foreign-architectures | grep -qx "$1" || dpkg --add-architecture "$1" || return
    for package in $BUILD_PACKAGES $OPTION_PACKAGES $BASIC_TEST_PACKAGES; do
        case $package in
            *-dev | check) packages="$packages $package:$1" ;;
            *) packages="$packages $package" ;;
        esac
    done
    # shellcheck disable=SC2086
    need_packages $packages "libc6-dev:$(dpkg --print-architecture)" "gcc-$TRIPLE" ${QEMU:+qemu-user-static} || return
    [ -z "$installed" ] || rm -rf "build-$1" # has not found them
    port_can_run "$1"
}

# True if the kernel starts programs of the machine. Prints the reason otherwise.
port_can_run() { # port_can_run MACHINE
    local rc=0
    port_emulate "$1" || rc=1
    [ $rc = 1 ] || port_probe || { echo "the kernel cannot run programs of $1" && rc=1; }
    port_emulate_no_more
    return $rc
}

port_probe() {
    local probe rc=0
    probe=$(mktemp -d) || return
    echo 'int main(void) { return 0; }' >"$probe/main.c"
    "$TRIPLE-gcc" -o "$probe/main" "$probe/main.c" && "$probe/main" 2>/dev/null || rc=1
    rm -rf "$probe"
    return $rc
}

# Makes the kernel start programs of the machine with the emulator, unless the kernel can do so. The kernel has one list
# for all of the system. So a rule has the process id of its run in its name, and the next run removes stale rules.
BINFMT=/proc/sys/fs/binfmt_misc
RULE=
port_emulate() { # port_emulate MACHINE
    local rule owner
    port_names "$1" || return
    [ -n "$QEMU" ] || return 0
    [ -e $BINFMT/register ] || mount -t binfmt_misc binfmt_misc $BINFMT 2>/dev/null ||
        { echo "cannot mount binfmt_misc, by which the kernel starts $QEMU" && return 1; }
    for rule in "$BINFMT"/tenon-*; do
        owner=${rule##*-}
        [ ! -e "$rule" ] || kill -0 "$owner" 2>/dev/null || echo -1 >"$rule"
    done
    # A rule of another run ends with that run.
    compgen -G "$BINFMT/tenon-$1-*" >/dev/null || ! port_probe || return 0
    RULE=tenon-$1-$$
    sed "s/^:[^:]*:/:$RULE:/" "/usr/lib/binfmt.d/$QEMU.conf" >$BINFMT/register ||
        { echo "cannot register $QEMU in binfmt_misc" && RULE= && return 1; }
}

port_emulate_no_more() {
    [ -z "$RULE" ] || echo -1 >"$BINFMT/$RULE"
    RULE=
}

# Writes the cross file of meson. The kernel starts the machine's programs, so that meson needs no wrapper.
port_cross_file() { # port_cross_file MACHINE
    port_names "$1" || return
    cat <<END
[binaries]
c = '$TRIPLE-gcc'
ar = '$TRIPLE-gcc-ar'
nm = '$TRIPLE-gcc-nm'
strip = '$TRIPLE-strip'
objcopy = '$TRIPLE-objcopy'
pkgconfig = 'pkg-config'
[properties]
pkg_config_libdir = '/usr/lib/$MULTIARCH/pkgconfig:/usr/share/pkgconfig'
needs_exe_wrapper = false
[host_machine]
system = 'linux'
cpu_family = '$FAMILY'
cpu = '$CPU'
endian = '$ORDER'
END
}
