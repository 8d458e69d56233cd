#!/usr/bin/env bash
# Sets up all that the voice appliance needs on Debian, Raspberry Pi OS or Ubuntu, and runs it, or its tests.
#
# .venv/complete names what the environment was made from: the Python, and the lock files that are installed. It goes
# before anything is changed and comes back last, so an environment without it was interrupted, and is made anew.
set -euo pipefail

usage="Usage: ./install.sh run|test

  run    install what is missing, then run the appliance: on the sound card if there is one, else a demonstration
  test   install what is missing, then run all checks and tests

Both can be repeated, and go on from where they were interrupted."

test_model=llm/SmolLM2-135M-Instruct.Q4_1.gguf # which a real server serves in the tests

say() { printf '==> %s\n' "$*"; }

fail() { # each argument is a line
    printf '%s\n' "$@" >&2
    exit 1
}

# Prints the first Python that will do: the one beneath a virtual environment, since that may be the very .venv.
find_python() {
    local name
    for name in python3 python3.13 python3.12 python3.11; do
        "$name" -c 'import sys; sys.version_info < (3, 11) and sys.exit(1); print(sys._base_executable)' 2>/dev/null &&
            return
    done
    return 1
}

# Sets `python`, and installs the system packages that are needed for it, and for `verb`.
install_system() {
    local packages=(gcc libc6-dev pkg-config portaudio19-dev libportaudio2 libsystemd-dev) version
    if [ "$verb" = test ]; then
        packages+=(pulseaudio pulseaudio-utils libasound2-plugins) # a sound card
        packages+=(iproute2 dnsmasq-base)                          # a network with a DNS server
        if [ "$HOSTTYPE" = x86_64 ]; then # a virtual machine
            packages+=(qemu-system-x86 mmdebstrap debian-archive-keyring gpg e2fsprogs)
        fi
    fi
    if ! python=$(find_python); then
        if command -v python3 >/dev/null; then
            fail "The appliance needs Python 3.11 or later, and here is $(python3 --version)." \
                "Debian 12, Raspberry Pi OS (bookworm) and Ubuntu 24.04 bring it along, and so do all later ones."
        fi
        install_packages "${packages[@]}" python3 python3-venv python3-dev
        python=$(find_python) || fail "The appliance needs Python 3.11 or later, which this system does not offer."
    fi
    version=$("$python" -c 'import sys; sys.base_prefix == "/usr" and print("%d.%d" % sys.version_info[:2])')
    install_packages "${packages[@]}" ${version:+"python$version-venv" "python$version-dev"}
    "$python" -c 'import sys; sys.exit(sys.maxsize < 2**32)' ||
        fail "This is a 32-bit system, and the engines for speech only exist for 64 bits: install the 64-bit image."
}

install_packages() {
    local missing=() package
    if ! command -v dpkg-query >/dev/null; then
        say "No apt here: going on as if these were installed: $*"
        return
    fi
    for package in "$@"; do
        if [ "$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            missing+=("$package")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "System packages: ${missing[*]}"

    local root=() line="apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            fail "Only root may install them. Type this, and then run this again:" "  su -c '$line'"
        fi
        root=(sudo)
        line="sudo sh -c '$line'"
        [ -t 0 ] || sudo --non-interactive true 2>/dev/null ||
            fail "Only root may install them. Type this, and then run this again:" "  $line"
    fi
    attempt "system packages" apt_install "${missing[@]}"
}

apt_install() { # with the `root` of install_packages
    local get=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --yes --quiet)
    get+=(-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
    "${root[@]}" dpkg --configure -a && # an earlier run may have been interrupted
        "${get[@]}" update &&
        "${get[@]}" install --no-install-recommends "$@"
}

# Runs a command. Of its errors, those of a missing network become one message. They go through a file, since whatever
# the command leaves running would keep a pipe open; nor may that keep the lock.
attempt() { # what it fetches, command
    local what=$1 file errors status=0
    local unreachable='connection broken|ConnectionError|TimeoutError|^E: Failed to fetch|index files failed to download'
    shift
    file=$(mktemp)
    "$@" </dev/null 2>"$file" 9<&- || status=$?
    errors=$(<"$file")
    rm "$file"
    [ $status -ne 0 ] || return 0
    if grep -Eq "$unreachable" <<<"$errors" && ! grep -q CERTIFICATE <<<"$errors"; then # a wrong clock, mostly
        fail "The $what could not be fetched: there is no network, or it does not reach them." \
            "Run ./install.sh $verb again when there is: it goes on from here."
    fi
    fail "$errors" "The $what could not be installed; the reason is above."
}

# Makes .venv, or brings it up to date with the lock files of `verb`.
install_environment() {
    local made complete=.venv/complete
    made="$("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2], "of", sys.base_prefix)') for $PWD"
    if [ "$(head --lines=1 $complete 2>/dev/null)" != "$made" ] || ! .venv/bin/python -Ic 'import appliance'; then
        say "Virtual environment in .venv, with $made"
        rm -rf .venv
        "$python" -m venv .venv || fail "The virtual environment could not be made; the reason is above."
    elif grep --quiet --line-regexp "$(locked "$verb")" $complete; then
        return
    fi
    say "Python packages, as locked in config/$verb.lock"
    rm -f $complete
    attempt "Python packages" pip_install --require-hashes --requirement config/build.lock
    attempt "Python packages" pip_install --require-hashes --no-build-isolation --use-pep517 --requirement "config/$verb.lock"
    attempt "Python packages" pip_install --no-deps --no-build-isolation --editable .
    {
        echo "$made"
        locked run
        if [ "$verb" = test ]; then locked test; fi # which holds all of run too
    } >$complete.new
    mv $complete.new $complete
}

locked() { # the line for a set of packages that is installed
    echo "$1 $(cat pyproject.toml config/build.lock "config/$1.lock" | sha256sum)"
}

pip_install() {
    local quiet=()
    [ -t 1 ] || quiet=(--quiet)
    .venv/bin/python -m pip --disable-pip-version-check --no-input install "${quiet[@]}" "$@"
}

install_models() {
    say "Models"
    .venv/bin/appliance models fetch && { [ "$verb" != test ] || .venv/bin/appliance models fetch "$test_model"; } ||
        fail "Not all models could be fetched. Run ./install.sh $verb again: it goes on from here."
}

run_checks() {
    local failed=()
    check "Lint" ruff check .
    check "Format" ruff format --check .
    check "Types" mypy
    check "Import rules" lint-imports
    if [ ${#failed[@]} -gt 0 ]; then
        say "Failed so far: ${failed[*]}"
    fi
    check "Tests" pytest
    [ ${#failed[@]} -eq 0 ]
}

check() { # name, command in .venv/bin and its arguments
    local name=$1 command=$2
    shift 2
    say "$name"
    ".venv/bin/$command" "$@" || failed+=("$name")
}

interrupted() {
    printf '\nInterrupted. Run ./install.sh %s again: it goes on from here.\n' "$verb" >&2
    exit 130
}

case "${1-}" in
    run | test) verb=$1 ;;
    --help | -h) echo "$usage" && exit ;;
    *) echo "$usage" >&2 && exit 2 ;;
esac
if [ $# -gt 1 ]; then
    echo "$usage" >&2
    exit 2
fi
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

exec 9<. # the lock is on the folder itself
flock --nonblock 9 || { say "Another install.sh is at work here: waiting for it" && flock 9; }
trap interrupted INT TERM HUP
install_system
install_environment
install_models
trap - INT TERM HUP
exec 9<&-

case $verb in
    run) exec .venv/bin/appliance run --demo=auto ;;
    test) run_checks ;;
esac
