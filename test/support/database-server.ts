import { createHash } from "node:crypto";
import { ownerOf, prepareRoles, roleOf, withClient } from "../../deploy/provision/database.ts";

export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** The roles of the services in one database. Roles belong to the whole server, so databases are prepared one after the other. */
export async function makeRoles(server: string, database: string): Promise<void> {
  await withClient(server, async (admin) => {
    await admin.query("select pg_advisory_lock(hashtextextended('roles of the services', 0))");
    const databasePasswordOf = (service: string): string => passwordOf(server, roleOf(service));
    const ownerPasswordOf = (service: string): string => passwordOf(server, ownerOf(service));
    await withClient(urlOf(server, database), (client) =>
      prepareRoles(client, { databasePasswordOf, ownerPasswordOf }),
    );
  });
}

/** The address of the same database for one of these roles. */
export function urlAs(url: string, role: string): string {
  const other = new URL(url);
  other.password = passwordOf(url, role);
  other.username = role;
  return other.href;
}

/** The same in every run that shares the server. */
function passwordOf(url: string, role: string): string {
  return createHash("sha256")
    .update(`${new URL(url).password} ${role}`)
    .digest("hex");
}

/** Drops all databases of a run on a server that the run did not start. */
export async function dropDatabasesOf(runId: string, server: string): Promise<void> {
  await withClient(server, async (admin) => {
    const { rows } = await admin.query<{ name: string }>(
      `select datname as name from pg_database where datname like $1 or datname like $2`,
      [`template\\_${runId}\\_%`, `test\\_${runId}\\_%`],
    );
    for (const { name } of rows) {
      if (name.startsWith("template_")) await admin.query(`alter database ${name} is_template false`);
      await admin.query(`drop database if exists ${name} with (force)`);
    }
  });
}
