#!/bin/sh
# Prints the path of a nats-server and its version, separated by a tab; downloads one when none is found.
# Search order: NATS_SERVER_BIN, the path, the project's cache; then Debian's package is unpacked into the cache, which
# needs no root and does not change the system; then, as root only, the package of the system is installed.
set -eu

minimum=2.9.0
here=$(cd "$(dirname "$0")" && pwd)
cache=$(cd "$here/../.." && pwd)/.cache/nats
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

echo "Downloading nats-server (Debian trixie) into .cache/nats." >&2
if sh "$here/unpack-from-debian.sh" nats-server usr/sbin/nats-server "$cached"; then use_if_new_enough "$cached"; fi
if [ "$(id -u)" = 0 ]; then
  echo "Installing nats-server from the packages of this system." >&2
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends nats-server; } >&2 || true
  use_if_new_enough /usr/sbin/nats-server
fi
fail "neither Debian trixie nor the packages of this system provide one"
