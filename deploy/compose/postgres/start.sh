#!/bin/bash
# Starts Postgres in its container; the arguments are those of `postgres`.
#
# In a cluster (with PEER, the other server) exactly one of the two is the primary. A server begins as a copy of its peer when the peer is
# the primary. A former primary does not start while its peer is one: its copy is old, and clients must not write to it.
set -euo pipefail

export POSTGRES_PASSWORD
POSTGRES_PASSWORD=$(cat /run/pamm/password)

if [ -z "${PEER:-}" ] || [ ! -e /run/pamm/replication-password ]; then exec docker-entrypoint.sh postgres "$@"; fi

# The folder of data may not be readable for others; root is in its container without the rights of root over processes.
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

# A standby accepts no connection (hot_standby is off), so a server that answers is a primary.
peer_is_primary() {
  PGPASSWORD=$POSTGRES_PASSWORD PGCONNECT_TIMEOUT=3 psql --host="$PEER" --username=postgres --dbname=postgres --quiet --tuples-only --command='select' >/dev/null 2>&1
}

# `all` does not include replication.
printf '%s\n' 'local all all trust' 'host all all all scram-sha-256' 'host replication pamm_standby all scram-sha-256' >/tmp/pg_hba.conf
chmod 644 /tmp/pg_hba.conf

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if peer_is_primary || [ "${BEGINS_AS_COPY:-}" = yes ]; then
    until peer_is_primary; do echo "waiting for the primary, $PEER"; sleep 1; done
    mkdir -p "$PGDATA"
    chown postgres:postgres "$PGDATA"
    chmod 700 "$PGDATA"
    # A copy that was interrupted is begun again.
    find "$PGDATA" -mindepth 1 -delete
    PGPASSWORD=$(cat /run/pamm/replication-password) as_postgres pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --no-password \
      --write-recovery-conf --dbname="host=$PEER user=pamm_standby application_name=pamm_standby"
  fi
elif [ ! -e "$PGDATA/standby.signal" ] && peer_is_primary; then
  echo "$PEER is the primary now, and the data here is old: remove this container and its volume of data to make it the standby" >&2
  exit 1
fi

exec docker-entrypoint.sh postgres -c hba_file=/tmp/pg_hba.conf -c hot_standby=off -c wal_keep_size=2GB "$@"
