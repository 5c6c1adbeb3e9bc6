import { readFileSync } from "node:fs";
import pg from "pg";
import { SERVICES } from "./services.ts";

const DATABASE = "pamm";
/** Also for operators, who run it on servers of their own. */
const ROLES = readFileSync(new URL("../postgres/roles.sql", import.meta.url), "utf8");

/** The passwords of the two roles of a service. */
export type RolePasswords = {
  readonly databasePasswordOf: (service: string) => string;
  readonly ownerPasswordOf: (service: string) => string;
};

/** One database, with the schemas and roles of the services. Safe to repeat. */
export async function prepareDatabase(superuserUrl: string, passwords: RolePasswords): Promise<void> {
  await withClient(superuserUrl, async (server) => {
    const { rowCount } = await server.query("select from pg_database where datname = $1", [DATABASE]);
    if (rowCount === 0) await server.query(`create database ${DATABASE}`);
  });
  const url = new URL(superuserUrl);
  url.pathname = `/${DATABASE}`;
  await withClient(url.href, (database) => prepareRoles(database, passwords));
}

/** In the database of the connection. */
export async function prepareRoles(database: pg.Client, passwords: RolePasswords): Promise<void> {
  await database.query(ROLES);
  for (const service of SERVICES) {
    await setPassword(database, roleOf(service), passwords.databasePasswordOf(service));
    await setPassword(database, ownerOf(service), passwords.ownerPasswordOf(service));
  }
}

/** `server` is host:port. */
export function serviceUrl(server: string, service: string, password: string): string {
  return `postgres://${roleOf(service)}:${password}@${server}/${DATABASE}`;
}

/** For migrations only. */
export function ownerUrl(server: string, service: string, password: string): string {
  return `postgres://${ownerOf(service)}:${password}@${server}/${DATABASE}`;
}

/** Reads and writes rows. */
export function roleOf(service: string): string {
  return `pamm_${service}`;
}

/** Owns the schema of the service. */
export function ownerOf(service: string): string {
  return `${roleOf(service)}_owner`;
}

async function setPassword(database: pg.Client, role: string, password: string): Promise<void> {
  await database.query(`alter role ${role} password ${pg.escapeLiteral(password)}`);
}

/** A connection that ends with the work. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  own: Omit<pg.ClientConfig, "connectionString"> = {},
): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: "launcher", ...own });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
