#!/usr/bin/env bash
# Gazebo Classic 11 and the motor board plugin, ready to run. Uses the Gazebo of the system if there is one to build
# against; else makes one of Debian 11 packages in a folder of its own (2.9 GB) and enters it with chroot.
# Can be run again at any time: what is there already is kept, the plugin is built anew where it changed.
set -euo pipefail

SOURCE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
PLACE="${HUMANOID_BALANCE_GAZEBO:-${XDG_CACHE_HOME:-$HOME/.cache}/humanoid_balance/gazebo}"
ROOT="$PLACE/root"
PLUGIN=opt/humanoid_balance
SUITE=bullseye # the only Debian with Gazebo Classic 11
PACKAGES=(gazebo libgazebo-dev g++ cmake make)
NEEDED_MB=4500 # while installing; 2900 stay

fail() {
    echo "gazebo: $*" >&2
    exit 1
}

system_has_gazebo() {
    command -v gzserver >/dev/null && gzserver --version 2>/dev/null | grep -q 'version 11\.' &&
        command -v cmake >/dev/null && command -v pkg-config >/dev/null && pkg-config --exists gazebo
}

# Addresses of the Debian archives that this machine installs from, security and other archives left out.
mirrors() {
    local files=()
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] && files+=("$file")
    done
    [ ${#files[@]} -gt 0 ] || return 0
    awk '
        /^[[:space:]]*#/ { next }
        $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; break } }
        tolower($1) == "uris:" { for (i = 2; i <= NF; i++) print $i }
    ' "${files[@]}" | sed 's,/*$,,' | grep -E '/debian$|/debian-archive$' | sort -u
}

mirror_with_suite() {
    local mirror
    for mirror in $(mirrors); do
        if curl --fail --silent --location --head --max-time 30 "$mirror/dists/$SUITE/Release" >/dev/null; then
            echo "$mirror"
            return
        fi
    done
    fail "none of this machine's apt sources has Debian 11 ($SUITE); looked at: $(mirrors | tr '\n' ' ')"
}

check_machine() {
    [ "$(id -u)" = 0 ] || fail "there is no Gazebo Classic 11 on this machine, and making one needs root (chroot)"
    mkdir -p "$PLACE"
    local free
    free=$(df --output=avail -BM "$PLACE" | tail -1 | tr -dc 0-9)
    [ "$free" -ge "$NEEDED_MB" ] || fail "$PLACE has $free MB left; $NEEDED_MB are needed"
    local missing=()
    command -v debootstrap >/dev/null || missing+=(debootstrap)
    command -v curl >/dev/null || missing+=(curl)
    if [ ${#missing[@]} -gt 0 ]; then
        command -v apt-get >/dev/null || fail "this machine has no apt, from whose packages a Gazebo could be made"
        apt-get update -qq || fail "apt-get update failed"
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" ca-certificates ||
            fail "apt cannot install ${missing[*]}"
    fi
}

make_root() {
    [ -e "$ROOT/.installed" ] && return
    check_machine
    local mirror
    mirror=$(mirror_with_suite)
    echo "gazebo: Debian 11 with Gazebo in $ROOT, a few minutes"
    if [ ! -e "$ROOT/.base" ]; then
        rm -rf "$ROOT" # half of one cannot be continued
        debootstrap --variant=minbase --components=main --include=ca-certificates "$SUITE" "$ROOT" "$mirror" \
            >"$PLACE/install.log" 2>&1 || fail "debootstrap failed; see $PLACE/install.log"
        touch "$ROOT/.base"
    fi
    for file in /etc/resolv.conf /etc/hosts; do # how this machine finds its mirror
        [ -r "$file" ] && cp -L "$file" "$ROOT$file"
    done
    chroot "$ROOT" sh -c 'apt-get update && apt-get install -y --no-install-recommends "$@" && apt-get clean' \
        install "${PACKAGES[@]}" >>"$PLACE/install.log" 2>&1 </dev/null ||
        fail "apt failed in $ROOT; see $PLACE/install.log"
    touch "$ROOT/.installed"
}

# build BASE ENTER...: the plugin in BASE, by the compiler that ENTER leads to
build() {
    local base="$1" log="$PLACE/build.log"
    shift
    local inside=/$PLUGIN
    [ $# -gt 0 ] || inside="$base/$PLUGIN"
    mkdir -p "$base/$PLUGIN/src"
    cp -R --preserve=timestamps "$SOURCE/CMakeLists.txt" "$SOURCE/src" "$base/$PLUGIN/src/"
    # moved into place, so that a gzserver which runs at the moment keeps the one it has
    "$@" sh -c 'cmake -S "$1/src" -B "$1/build" && cmake --build "$1/build" && mkdir -p "$1/new" &&
        cp "$1"/build/*.so "$1/new" && mv "$1"/new/*.so "$1"' \
        build "$inside" >"$log" 2>&1 </dev/null || fail "the plugin cannot be built; see $log"
}

export DEBIAN_FRONTEND=noninteractive LC_ALL=C
mkdir -p "$PLACE"
exec 9>"$PLACE/.lock"
flock 9 # one at a time
if system_has_gazebo; then
    build "$PLACE"
    echo "gazebo: the system's $(gzserver --version | head -1), plugin in $PLACE/$PLUGIN"
else
    make_root
    build "$ROOT" chroot "$ROOT"
    echo "gazebo: $(chroot "$ROOT" gzserver --version | head -1) in $ROOT"
fi
