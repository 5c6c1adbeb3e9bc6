#!/bin/sh
# Prints the path of a nats-server and its version, separated by a tab; downloads one when none is found.
# Search order: NATS_SERVER_BIN, the path, the project's cache; then Debian's package is unpacked into the cache, which
# needs no root and does not change the system; then, as root only, the package of the system is installed.
set -eu

minimum=2.9.0
suite=trixie
cache=$(cd "$(dirname "$0")/../.." && pwd)/.cache/nats
cached=$cache/usr/sbin/nats-server

version_of() { "$1" --version 2>/dev/null | sed -n 's/^nats-server: v\{0,1\}\([0-9.]*\).*/\1/p'; }

# When the program exists and is new enough, prints it and ends the script.
use_if_new_enough() {
  version=$(version_of "$1") || return 0
  [ -n "$version" ] || return 0
  [ "$(printf '%s\n%s\n' "$minimum" "$version" | sort -V | head -n 1)" = "$minimum" ] || return 0
  printf '%s\t%s\n' "$1" "$version"
  exit 0
}

fail() {
  echo "nats-server cannot be provided: $1; install nats-server 2.9 or newer, or set NATS_SERVER_BIN or NATS_URL" >&2
  exit 1
}

if [ -n "${NATS_SERVER_BIN:-}" ]; then
  use_if_new_enough "$NATS_SERVER_BIN"
  fail "NATS_SERVER_BIN is not a nats-server of version $minimum or newer"
fi
for found in "$(command -v nats-server || true)" /usr/sbin/nats-server "$cached"; do
  [ -z "$found" ] || use_if_new_enough "$found"
done

command -v apt-get >/dev/null || fail "this machine has no apt-get"

# One process downloads; others wait for it and find the result.
mkdir -p "$cache"
exec 9>"$cache.lock"
flock 9
use_if_new_enough "$cached"

mirror_of_this_system() {
  found=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "Debian" && $3 !~ /-/ { print $1; exit }')
  # Before the first `apt-get update` there is no package index, only the list of sources.
  [ -n "$found" ] || found=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' | head -n 1)
  echo "${found:-http://deb.debian.org/debian}"
}

# Signatures are checked with the keyring that every Debian has.
unpack_from_debian() {
  work=$(mktemp -d)
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/deb" "$work/root"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror_of_this_system) $suite main" >"$work/sources"
  options="-qq -o Dir::Etc::SourceList=$work/sources -o Dir::Etc::SourceParts=/dev/null
    -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
    -o Dir::State::Lists=$work/lists -o Dir::State::Status=/dev/null -o Dir::Cache=$work/cache
    -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o APT::Sandbox::User=$(id -un)"
  # shellcheck disable=SC2086
  apt-get $options update >&2 &&
    (cd "$work/deb" && apt-get $options download nats-server >&2) &&
    for package in "$work"/deb/*.deb; do dpkg-deb -x "$package" "$work/root"; done &&
    mkdir -p "$cache/usr/sbin" &&
    mv "$work/root/usr/sbin/nats-server" "$cached"
  outcome=$?
  rm -rf "$work"
  return $outcome
}

echo "Downloading nats-server (Debian $suite) into .cache/nats." >&2
if unpack_from_debian; then use_if_new_enough "$cached"; fi
if [ "$(id -u)" = 0 ]; then
  echo "Installing nats-server from the packages of this system." >&2
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends nats-server; } >&2 || true
  use_if_new_enough /usr/sbin/nats-server
fi
fail "neither Debian $suite nor the packages of this system provide one"
