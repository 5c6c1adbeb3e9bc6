#!/bin/sh
# new-migration.sh SERVICE NAME   makes services/SERVICE/migrations/NNNN_NAME.sql with the next number
set -eu
service=${1:-} name=${2:-}
folder=$(cd "$(dirname "$0")/../.." && pwd)/services/$service/migrations

case $name in
'' | *[!a-z0-9_]*)
  echo "usage: make new-migration service=funding name=what_it_does" >&2
  exit 1
  ;;
esac
if [ -z "$service" ] || [ ! -d "$folder" ]; then
  echo "there is no folder services/$service/migrations" >&2
  exit 1
fi

last=$(ls "$folder" | sed -n 's/^\([0-9]\{4\}\)_.*\.sql$/\1/p' | sort | tail -n 1)
# Without its leading zeros, or the shell reads it as octal.
number=$(printf '%04d' $(($(echo "${last:-0000}" | sed 's/^0*\(.\)/\1/') + 1)))
file=$folder/${number}_$name.sql
echo "-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, \"A new migration\"." >"$file"
echo "$file"
