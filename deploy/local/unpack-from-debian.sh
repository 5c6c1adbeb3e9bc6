#!/bin/sh
# unpack-from-debian.sh PACKAGE FILE DESTINATION
# Downloads a package of Debian trixie, whatever Debian this is, and moves one of its files to the destination. It needs no root and does
# not change the system.
set -eu

suite=trixie
package=$1
file=$2
destination=$3

mirror_of_this_system() {
  found=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
    awk '$2 == "Debian" && $3 !~ /-/ { print $1; exit }')
  # Before the first `apt-get update` there is no package index, only the list of sources.
  [ -n "$found" ] || found=$(cat /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' | head -n 1)
  echo "${found:-http://deb.debian.org/debian}"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/deb" "$work/root"
# Signatures are checked with the keyring that every Debian has.
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror_of_this_system) $suite main" >"$work/sources"
options="-qq -o Dir::Etc::SourceList=$work/sources -o Dir::Etc::SourceParts=/dev/null
  -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null
  -o Dir::State::Lists=$work/lists -o Dir::State::Status=/dev/null -o Dir::Cache=$work/cache
  -o Acquire::Languages=none -o Acquire::Retries=3 -o Acquire::http::Timeout=30 -o APT::Sandbox::User=$(id -un)"
# shellcheck disable=SC2086
apt-get $options update >&2
# shellcheck disable=SC2086
(cd "$work/deb" && apt-get $options download "$package" >&2)
for archive in "$work"/deb/*.deb; do dpkg-deb -x "$archive" "$work/root"; done
mkdir -p "$(dirname "$destination")"
mv "$work/root/$file" "$destination"
