#!/bin/sh
# roll.sh REPLICAS [SERVICE ...]: replaces the containers of the services, or of the named ones, by those of the present image, one replica
# after the other. The variables are those of `docker compose up`, and PROJECT is its project.
#
# Migrations only add, so they run first; the old containers accept the newer schema. Docker Compose by itself replaces all replicas of a service at once.
set -eu

replicas=$1
shift
[ $# -gt 0 ] || set -- platform account funding subscription fee edge

compose() { docker compose ${PROJECT:+--project-name "$PROJECT"} "$@"; }

for once in migrate init-streams; do compose run --rm --no-deps --no-TTY "$once"; done

for service in "$@"; do
  for container in $(compose ps --quiet "$service"); do
    # It finishes what is in progress.
    docker stop --time 20 "$container" >/dev/null
    docker rm "$container" >/dev/null
    compose up --detach --wait --no-build --no-deps --no-recreate --scale "$service=$replicas" "$service" >/dev/null 2>&1
    echo "$service: replaced a replica"
  done
done
