import { connectToMigrate } from "./migration-client.ts";
import { one, sql } from "./query.ts";

export type ServerUse = {
  readonly schema: string;
  /** No real money is moved. */
  readonly isRehearsal: boolean;
  readonly isProduction: boolean;
};

type Server = { isInRecovery: boolean; fsync: string; commit: string; standbys: string; hasStandby: boolean };

/**
 * Every reason for which the server may lose a commit that it has confirmed: a command of a lost commit would be sent again. Where no
 * real money is moved, the server need not be durable. A standby is known by its replication slot.
 */
export async function findServerProblems(
  url: string,
  { schema, isRehearsal, isProduction }: ServerUse,
): Promise<string[]> {
  const client = await connectToMigrate(url, schema);
  try {
    const server = await one<Server>(
      client,
      sql`select pg_is_in_recovery() as "isInRecovery", current_setting('fsync') as fsync,
                 current_setting('synchronous_commit') as commit,
                 current_setting('synchronous_standby_names') as standbys,
                 exists (select from pg_replication_slots where slot_type = 'physical' and not temporary) as "hasStandby"`,
    );
    return [
      ...readOnlyProblems(server),
      ...(isRehearsal ? [] : durabilityProblems(server)),
      ...(isProduction ? standbyProblems(server) : []),
    ];
  } finally {
    await client.end();
  }
}

function readOnlyProblems({ isInRecovery }: Server): string[] {
  return isInRecovery ? ["Postgres is in recovery and accepts no change: connect to the primary"] : [];
}

function durabilityProblems({ fsync, commit, standbys }: Server): string[] {
  const problems = [];
  if (fsync === "off") problems.push("Postgres has fsync=off and may lose commits: set it on");
  if (commit === "off") {
    problems.push(
      "Postgres has synchronous_commit=off and may lose commits: set it on, also for the role and database",
    );
  }
  if (commit === "local" && standbys !== "") {
    problems.push(
      "Postgres has synchronous_commit=local, so its standby may lack commits: set it on, also for the role and database",
    );
  }
  return problems;
}

function standbyProblems({ standbys, hasStandby }: Server): string[] {
  if (!hasStandby || standbys !== "") return [];
  return [
    "Postgres has an asynchronous standby, which may lack commits when it takes over: set synchronous_standby_names",
  ];
}
