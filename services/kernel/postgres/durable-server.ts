import { StartupError } from "../startup-error.ts";
import { connectToMigrate } from "./migration-client.ts";
import { one, sql } from "./query.ts";

type Server = { isInRecovery: boolean; fsync: string; commit: string; standbys: string };

/**
 * Ends the start with every reason for which the server may lose a commit that it has confirmed: a command of a lost commit would be
 * sent again. Where no real money is moved, the server need not be durable.
 */
export async function requireDurableServer(
  url: string,
  { schema, isRehearsal }: { readonly schema: string; readonly isRehearsal: boolean },
): Promise<void> {
  const client = await connectToMigrate(url, schema);
  try {
    const server = await one<Server>(
      client,
      sql`select pg_is_in_recovery() as "isInRecovery", current_setting('fsync') as fsync,
                 current_setting('synchronous_commit') as commit,
                 current_setting('synchronous_standby_names') as standbys`,
    );
    const problems = [...readOnlyProblems(server), ...(isRehearsal ? [] : durabilityProblems(server))];
    if (problems.length > 0) throw new StartupError(problems.join("\n"));
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
