import pg from "pg";
import { SERVICES } from "./settings.ts";

const DATABASE = "pamm";

/**
 * One database; for each service a login role that can use its own schema only. The services create their tables
 * themselves. Safe to repeat.
 */
export async function prepareDatabase(superuserUrl: string, passwordOf: (service: string) => string): Promise<void> {
  await withClient(superuserUrl, async (server) => {
    const { rowCount } = await server.query("select from pg_database where datname = $1", [DATABASE]);
    if (rowCount === 0) await server.query(`create database ${DATABASE}`);
    await server.query(`revoke all on database ${DATABASE} from public`);
  });
  const url = new URL(superuserUrl);
  url.pathname = `/${DATABASE}`;
  await withClient(url.href, async (database) => {
    await database.query("revoke all on schema public from public");
    for (const service of SERVICES) await prepareService(database, service, passwordOf(service));
  });
}

/** `server` is host:port. */
export function serviceUrl(server: string, service: string, password: string): string {
  return `postgres://${roleOf(service)}:${password}@${server}/${DATABASE}`;
}

function roleOf(service: string): string {
  return `pamm_${service}`;
}

async function prepareService(database: pg.Client, service: string, password: string): Promise<void> {
  const role = roleOf(service);
  const { rowCount } = await database.query("select from pg_roles where rolname = $1", [role]);
  if (rowCount === 0) await database.query(`create role ${role} login`);
  await database.query(`alter role ${role} password ${pg.escapeLiteral(password)}`);
  await database.query(`grant connect, temporary on database ${DATABASE} to ${role}`);
  await database.query(`create schema if not exists ${service} authorization ${role}`);
}

async function withClient(url: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: url, application_name: "launcher" });
  client.on("error", () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
