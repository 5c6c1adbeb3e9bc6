import pg from "pg";

/** Runs statements as the superuser of the server, outside the databases of tests. */
export async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url, application_name: "test support" });
  admin.on("error", () => undefined);
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

export function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

/** Drops all databases of a run on a server that the run did not start. */
export async function dropDatabasesOf(runId: string, server: string): Promise<void> {
  await asAdmin(server, async (admin) => {
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
