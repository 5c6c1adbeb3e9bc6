#!/bin/sh
# Prints the path of kustomize 5; downloads it when none is found.
# Search order: KUSTOMIZE_BIN, the path, the project's cache; then Debian's package is unpacked into the cache.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
cached=$root/.cache/kustomize/kustomize

# Version 4 does not know the field `labels` with `includeTemplates`; a version that was built from source does not know its number.
use_if_new_enough() {
  "$1" build "$root/deploy/k8s/base/before" >/dev/null 2>&1 || return 0
  echo "$1"
  exit 0
}

if [ -n "${KUSTOMIZE_BIN:-}" ]; then
  use_if_new_enough "$KUSTOMIZE_BIN"
  echo "KUSTOMIZE_BIN is not a kustomize of version 5 or newer" >&2
  exit 1
fi
for found in "$(command -v kustomize || true)" "$cached"; do
  [ -z "$found" ] || [ ! -x "$found" ] || use_if_new_enough "$found"
done

# One process downloads; others wait for it and find the result.
mkdir -p "$root/.cache/kustomize"
exec 9>"$root/.cache/kustomize/lock"
flock 9
[ ! -x "$cached" ] || use_if_new_enough "$cached"
echo "Downloading kustomize (Debian trixie) into .cache/kustomize." >&2
if command -v apt-get >/dev/null && sh "$root/deploy/local/unpack-from-debian.sh" kustomize usr/bin/kustomize "$cached"; then
  use_if_new_enough "$cached"
fi
echo "kustomize cannot be provided: install kustomize 5 or newer, or set KUSTOMIZE_BIN" >&2
exit 1
