#!/usr/bin/env bash
# Installs the voice appliance as a service on Debian, Raspberry Pi OS or Ubuntu, or sets up what it needs here, and runs
# it, or its tests.
#
# As a service: the system's packages are installed here, and all else by the Python package appliance/installation. Here:
# .venv/complete names what the environment was made from: the Python, and the lock files that are installed. It goes
# before anything is changed and comes back last, so an environment without it was interrupted, and is made anew.
set -euo pipefail

usage="Usage: sudo ./install.sh [--local-llm] [--offline DIR]
       ./install.sh --download DIR [--local-llm]
       sudo ./install.sh --uninstall [--purge]
       ./install.sh run|test

  (nothing)     install the appliance as a service, or upgrade it, and start it
  --local-llm   with what serves a language model on this machine; an upgrade remembers it
  --offline     with what is in DIR, without a network
  --download    put into DIR all that an installation fetches, for another machine of this kind
  --uninstall   remove the appliance; configuration and models stay, but with --purge
  run           without installing: get what is missing into this folder, and run the appliance in the foreground: on the
                sound card if there is one, else a demonstration
  test          get what is missing into this folder, and run all checks and tests

All can be repeated, and go on from where they were interrupted."

# What an installed appliance needs of the system. It runs with the system's own Python.
device_packages=(python3 python3-venv python3-pyaudio python3-systemd)

test_model=llm/SmolLM2-135M-Instruct.Q4_1.gguf # which a real server serves in the tests

bring_it="Debian 12, Raspberry Pi OS (bookworm) and Ubuntu 24.04 bring it along, and so do all later ones."
is_32_bit='import sys; sys.exit(sys.maxsize < 2**32)'
no_32_bit="This is a 32-bit system, and the engines for speech only exist for 64 bits: install the 64-bit image."

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

# Installs what a device needs, or what making a bundle for one needs.
install_device_system() {
    if [ "$verb" = --download ]; then
        install_packages python3 python3-venv
    else
        install_packages "${device_packages[@]}"
    fi
    /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        fail "The appliance needs Python 3.11 or later, and here is $(/usr/bin/python3 --version)." "$bring_it"
    /usr/bin/python3 -c "$is_32_bit" || fail "$no_32_bit"
}

# Has apt take what is in the bundle, and nothing else; it does not touch what apt knows of other sources.
use_bundle() {
    [ -f "$bundle/debs/Packages.xz" ] ||
        fail "There is no $bundle/debs/Packages.xz, so $bundle is not what ./install.sh --download makes."
    scratch=$(mktemp --directory)
    mkdir --parents "$scratch/lists/partial"
    echo "deb [trusted=yes] file:${bundle// /%20}/debs ./" >"$scratch/sources.list"
    apt_options+=(-o Dir::Etc::SourceList="$scratch/sources.list" -o Dir::Etc::SourceParts=/dev/null)
    apt_options+=(-o Dir::State::Lists="$scratch/lists" -o APT::Sandbox::User=root)
}

# Fetches what a device needs of the system, and all that this needs in turn, as if nothing were installed yet.
download_debs() {
    mkdir --parents "$bundle/debs/partial"
    scratch=$(mktemp --directory)
    touch "$scratch/status"
    [ "$(id -u)" != 0 ] || apt-get --quiet update # what others have may be old, but they can only read it
    apt-get --yes --quiet -o Dir::State::Status="$scratch/status" -o Dir::Cache::Archives="$bundle/debs" \
        -o Debug::NoLocking=true -o APT::Sandbox::User=root --download-only --no-install-recommends \
        install "${device_packages[@]}"
}

# Sets `python`, and installs the system packages that are needed for it, and for `verb`.
install_system() {
    local packages=(gcc libc6-dev pkg-config portaudio19-dev libportaudio2 libsystemd-dev) version
    if [ "$verb" = test ]; then
        packages+=(pulseaudio pulseaudio-utils libasound2-plugins) # a sound card
        packages+=(iproute2 dnsmasq-base)                          # a network with a DNS server
        packages+=(systemd systemd-container mmdebstrap debian-archive-keyring gpg) # a system in a container
        if [ "$HOSTTYPE" = x86_64 ]; then # a virtual machine
            packages+=(qemu-system-x86 e2fsprogs)
        fi
    fi
    if ! python=$(find_python); then
        if command -v python3 >/dev/null; then
            fail "The appliance needs Python 3.11 or later, and here is $(python3 --version)." "$bring_it"
        fi
        install_packages "${packages[@]}" python3 python3-venv python3-dev
        python=$(find_python) || fail "The appliance needs Python 3.11 or later, which this system does not offer."
    fi
    version=$("$python" -c 'import sys; sys.base_prefix == "/usr" and print("%d.%d" % sys.version_info[:2])')
    install_packages "${packages[@]}" ${version:+"python$version-venv" "python$version-dev"}
    "$python" -c "$is_32_bit" || fail "$no_32_bit"
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
    get+=(-o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "${apt_options[@]}")
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
            "Run $command_line again when there is: it goes on from here."
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

# Installs the appliance as a service, or removes it, or makes a bundle.
install_device() {
    local task=(install)
    case $verb in
        --uninstall) task=(uninstall) ;;
        --download) task=(download "$bundle") ;;
        --offline) task+=(--offline "$bundle") ;;
    esac
    if [ "$verb" != --download ] && [ "$(id -u)" != 0 ]; then
        fail "Only root may do that: sudo $command_line"
    fi
    [ "$verb" != --offline ] || use_bundle
    [ "$verb" = --uninstall ] || install_device_system
    [ "$verb" != --download ] || attempt "system packages" download_debs
    trap - INT TERM
    trap '' HUP # from here on it can go back, which a terminal that is gone must not hinder
    /usr/bin/python3 -B -s -m appliance.installation "${task[@]}" "${options[@]}"
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
    printf '\nInterrupted. Run %s again: it goes on from here.\n' "$command_line" >&2
    exit 130
}

wrong_usage() {
    echo "$usage" >&2
    exit 2
}

verb= bundle= scratch=
options=() apt_options=()
command_line="./install.sh${*:+ $*}"
while [ $# -gt 0 ]; do
    case $1 in
        run | test | --uninstall) [ -z "$verb" ] && verb=$1 || wrong_usage ;;
        --offline | --download)
            [ -z "$verb" ] && [ -n "${2-}" ] || wrong_usage
            verb=$1
            bundle=$(realpath --canonicalize-missing -- "$2")
            shift
            ;;
        --local-llm | --purge) options+=("$1") ;;
        --help | -h) echo "$usage" && exit ;;
        *) wrong_usage ;;
    esac
    shift
done
case "$verb ${options[*]-}" in
    *" " | " --local-llm" | "--offline --local-llm" | "--download --local-llm" | "--uninstall --purge") ;;
    *) wrong_usage ;;
esac
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"

exec 9<. # the lock is on the folder itself
flock --nonblock 9 || { say "Another install.sh is at work here: waiting for it" && flock 9; }
trap interrupted INT TERM HUP
trap '[ -z "$scratch" ] || rm -rf "$scratch"' EXIT
case $verb in
    run | test) ;;
    --uninstall | --download | --offline | "") install_device; exit ;;
esac
install_system
install_environment
install_models
trap - INT TERM HUP
exec 9<&-

case $verb in
    run) exec .venv/bin/appliance run --demo=auto ;;
    test) run_checks ;;
esac
