#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command of this project on Debian 13 or 12, in a root that debootstrap makes on first use.
set -eu

usage() {
    cat <<'TEXT'
usage: contrib/debian13.sh [--release N] [--root DIR] [--new | --existing] [--discard] COMMAND [ARGUMENT]...

  COMMAND     runs in a copy of this source tree inside the root, for example
              contrib/quickstart.sh or contrib/check.sh
  --release N 12 or 13 (default)
  --root DIR  the folder of the root (default: $TENON_DEBIAN13 or $TENON_DEBIAN12, else
              tenon/debianN below $XDG_CACHE_HOME, else below /var/cache)
  --new       makes the root anew
  --existing  makes no root: exit status 77 without one
  --discard   forgets each change that the command makes in the root

The exit status is the command's; 77 with a line on stderr if no root can be made or entered here.
TEXT
}

skip() {
    echo "debian13.sh: skipped: $*" >&2
    exit 77
}

RELEASE=13 ROOT=
FRESH=0 EXISTING=0 DISCARD=0
while [ $# -gt 0 ]; do
    case $1 in
        --release) [ $# -gt 1 ] || { usage >&2; exit 2; }; RELEASE=$2; shift ;;
        --root) [ $# -gt 1 ] || { usage >&2; exit 2; }; ROOT=$2; shift ;;
        --new) FRESH=1 ;;
        --existing) EXISTING=1 ;;
        --discard) DISCARD=1 ;;
        -h | --help) usage; exit 0 ;;
        --) shift; break ;;
        -*) usage >&2; exit 2 ;;
        *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || { usage >&2; exit 2; }
case $RELEASE in
    12) SUITE=bookworm GIVEN=${TENON_DEBIAN12:-} ;;
    13) SUITE=trixie GIVEN=${TENON_DEBIAN13:-} ;;
    *) usage >&2; exit 2 ;;
esac
ROOT=${ROOT:-${GIVEN:-${XDG_CACHE_HOME:-/var/cache}/tenon/debian$RELEASE}}
case $ROOT in /?*) ;; *) ROOT=$PWD/$ROOT ;; esac
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || skip "making and entering a root needs root"
unshare --mount --propagation private mount -t tmpfs tmpfs /mnt 2>/dev/null || skip "cannot mount here"

# Prints the mirror of this machine's own packages.
mirror() {
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
    apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v own="$codename" '$1 == own { print $2; exit }'
}

make_root() {
    command -v debootstrap >/dev/null || skip "debootstrap is not installed"
    command -v apt-get >/dev/null || skip "no apt-get here, whose sources name the mirror"
    from=$(mirror)
    [ -n "$from" ] || skip "apt has no source of this machine's own release"
    rm -rf "$ROOT.partial"
    mkdir -p "$ROOT.partial"
    # The log has the reason, e.g. a mirror that cannot be reached.
    timeout 1200 debootstrap --variant=minbase "$SUITE" "$ROOT.partial" "$from" >"$ROOT.log" 2>&1 || {
        rm -rf "$ROOT.partial"
        skip "debootstrap cannot make the root: $(tail -n 1 "$ROOT.log") (see $ROOT.log)"
    }
    mv "$ROOT.partial" "$ROOT"
}

# Prevents packages from starting their services.
forbid_services() {
    printf '#!/bin/sh\nexit 101\n' >"$ROOT/usr/sbin/policy-rc.d"
    chmod 755 "$ROOT/usr/sbin/policy-rc.d"
}

# Replaces the root's copy of the sources. Build folders in the copy stay: a second run builds what changed. A file that
# differs gets the present time, because it may be older than what an earlier run built.
copy_tree() {
    rm -rf "$ROOT/src.new"
    mkdir -p "$ROOT/src" "$ROOT/src.new"
    tar -cf - --exclude='./build*' --exclude=./.git . | tar -C "$ROOT/src.new" --no-same-owner -m -xf -
    (cd "$ROOT/src.new" && find . -type f -exec sh -c '
        for file; do ! cmp -s "$file" "../src/$file" || touch -r "../src/$file" "$file"; done' sh {} +)
    find "$ROOT/src" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
    find "$ROOT/src.new" -mindepth 1 -maxdepth 1 -exec mv {} "$ROOT/src" \;
    rmdir "$ROOT/src.new"
}

[ -x "$ROOT/bin/sh" ] || [ $EXISTING = 0 ] || skip "$ROOT is not there yet"

# Runs in one root wait for each other, because each run replaces the sources.
mkdir -p "$(dirname "$ROOT")"
exec 9>"$ROOT.lock"
flock 9
[ $FRESH = 0 ] || rm -rf --one-file-system "$ROOT"
[ -x "$ROOT/bin/sh" ] || make_root
forbid_services
copy_tree
if [ -f /etc/resolv.conf ]; then cat /etc/resolv.conf >"$ROOT/etc/resolv.conf"; fi

# Mounts belong to a namespace that ends with the command, so no mount is left.
export ROOT DISCARD
# shellcheck disable=SC2016
exec unshare --mount --propagation private -- sh -euc '
    if [ "$DISCARD" = 1 ]; then
        mount -t tmpfs tmpfs /mnt
        mkdir /mnt/upper /mnt/work /mnt/root
        mount -t overlay overlay -o "lowerdir=$ROOT,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
        ROOT=/mnt/root
    fi
    mount --bind "$ROOT" "$ROOT"
    mkdir -p "$ROOT/proc" "$ROOT/sys" "$ROOT/dev"
    mount -t proc proc "$ROOT/proc"
    mount --rbind /sys "$ROOT/sys"
    mount --rbind /dev "$ROOT/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm"
    mount -t tmpfs -o mode=1777 tmpfs "$ROOT/tmp"
    # The root of a mount, because programs in a chroot may not make namespaces.
    cd "$ROOT"
    mkdir -p .old
    pivot_root . .old
    umount -l /.old
    rmdir /.old
    unset ROOT DISCARD TMPDIR
    export HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    exec /bin/sh -c "cd /src && exec \"\$@\"" sh "$@"' sh "$@"
