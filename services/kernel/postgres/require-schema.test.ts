import { inject, expect, test } from "vitest";
import { emptyDatabase } from "#test/support/database.ts";
import { makeRoles, urlAs } from "#test/support/database-server.ts";
import { ConfigError } from "../process/config.ts";
import { createLog } from "../process/log.ts";
import { ensureSchema, migrateOnly, requireSchema } from "./migration.ts";
import { Secret } from "../values/secret.ts";

const SCHEMA = { service: "funding", migrations: new URL("./testing/coins/", import.meta.url) };
const log = createLog({ service: "funding", level: "silent" });

type Urls = { readonly admin: string; readonly owner: string; readonly service: string };

/** The roles and an empty schema. */
async function prepared(): Promise<Urls> {
  const { adminUrl, name } = await emptyDatabase("elsewhere");
  await makeRoles(inject("postgresUrl"), name);
  return { admin: adminUrl, owner: urlAs(adminUrl, "pamm_funding_owner"), service: urlAs(adminUrl, "pamm_funding") };
}

function ensure({ service, owner }: Urls, mode: "auto" | "check", hasOwner = true): Promise<void> {
  return ensureSchema(log, SCHEMA, {
    databaseUrl: new Secret(service),
    migrationUrl: hasOwner ? new Secret(owner) : undefined,
    mode,
    isRehearsal: false,
  });
}

function apply(env: Readonly<Record<string, string>>): Promise<boolean> {
  return migrateOnly({ env, log, end: () => undefined }, SCHEMA);
}

const LACKS =
  "schema funding lacks 0001_coin: start it once with PAMM_MIGRATE=apply and FUNDING_DATABASE_MIGRATION_URL of the owner";

test("a check refuses a schema that lacks migrations in one line, and changes nothing", async () => {
  const urls = await prepared();

  await expect(ensure(urls, "check")).rejects.toMatchObject({ name: "StartupError", message: LACKS });
  await expect(ensure(urls, "check")).rejects.toThrow(LACKS);
  await expect(ensure(urls, "auto", false)).rejects.toThrow(LACKS);
});

test("auto migrates as the owner, and a check accepts the schema then", async () => {
  const urls = await prepared();

  await ensure(urls, "auto");

  await expect(ensure(urls, "check")).resolves.toBeUndefined();
  await expect(ensure(urls, "auto", false)).resolves.toBeUndefined();
});

test("apply migrates with the URL of the owner, and reads no other variable", async () => {
  const urls = await prepared();

  expect(await apply({ PAMM_MIGRATE: "auto" })).toBe(false);
  await expect(apply({ PAMM_MIGRATE: "apply" })).rejects.toThrow(
    new ConfigError([
      "FUNDING_DATABASE_MIGRATION_URL or DATABASE_MIGRATION_URL is missing: expected a URL that begins with postgres: or postgresql:",
    ]),
  );
  expect(await apply({ PAMM_MIGRATE: "apply", DATABASE_MIGRATION_URL: urls.owner })).toBe(true);

  await ensure(urls, "check");
});

test("a schema that is missing, or that the role cannot use, is refused with what to do", async () => {
  const { adminUrl } = await emptyDatabase("elsewhere");
  const { service } = await prepared();
  const user = { schema: "funding", folder: SCHEMA.migrations, mayOwnTables: false };

  await expect(requireSchema({ ...user, url: adminUrl })).rejects.toThrow(
    "schema funding does not exist or role postgres cannot use it: run deploy/postgres/roles.sql",
  );
  await expect(requireSchema({ ...user, url: service, schema: "fee" })).rejects.toThrow(
    "role pamm_funding cannot use it",
  );
});

test("where real money is moved, a role that can change tables is refused", async () => {
  const urls = await prepared();
  await ensure(urls, "auto");
  const user = { schema: "funding", folder: SCHEMA.migrations };

  for (const url of [urls.owner, urls.admin]) {
    await expect(requireSchema({ ...user, url, mayOwnTables: false })).rejects.toThrow(
      /role (pamm_funding_owner|postgres) can change the tables of schema funding: connect as the role/,
    );
    await requireSchema({ ...user, url, mayOwnTables: true });
  }
});
