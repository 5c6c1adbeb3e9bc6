import { join } from "node:path";
import pg from "pg";
import { migrate } from "#kernel/postgres/migrate.ts";
import { exactTypes } from "#kernel/postgres/types.ts";
import { withClient } from "../../../deploy/provision/database.ts";

/** A database with the tables of funding, platform and fee, so that a peer writes the rows and indexes of the service. */
export type BooksDatabase = AsyncDisposable & {
  readonly url: string;
  readonly pool: pg.Pool;
};

const SERVICES = join(import.meta.dirname, "../../../services");

/** With an account for each login; all of them begin with a balance of 0.00. */
export async function createBooks(serverUrl: string, name: string, logins: readonly string[]): Promise<BooksDatabase> {
  await withClient(serverUrl, async (server) => {
    await server.query(`drop database if exists ${name} with (force)`);
    await server.query(`create database ${name}`);
  });
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  for (const schema of ["funding", "platform", "fee"]) {
    await migrate({ url: url.href, schema, folder: join(SERVICES, schema, "migrations") });
  }
  const pool = new pg.Pool({ connectionString: url.href, max: 2, types: exactTypes() });
  // The server may be stopped first.
  pool.on("error", () => undefined);
  await insertAccounts(pool, logins);
  return { url: url.href, pool, [Symbol.asyncDispose]: () => pool.end() };
}

async function insertAccounts(pool: pg.Pool, logins: readonly string[]): Promise<void> {
  await pool.query("insert into platform.sender default values");
  await pool.query({
    text: `with opening as (
             insert into platform.log_entry (login, number, kind, amount_minor, deal_at)
             select login, 0, 'opening', 0, clock_timestamp() from unnest($1::text[]) as made (login)
             returning id, login
           )
           insert into platform.account (login, role, platform_group, reads_from, log_number, log_entry_id, log_minor)
           select login, 'investor', 'pamm\\investor', clock_timestamp(), 0, id, 0 from opening`,
    values: [logins],
  });
  await pool.query("analyze");
}
