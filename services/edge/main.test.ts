import { migrate } from "#kernel/postgres/migrate.ts";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { makeRoles, urlAs } from "#test/support/database-server.ts";
import { emptyDatabase, testDatabase } from "#test/support/database.ts";
import { startOwnNats } from "#test/support/nats.ts";
import {
  BOOTSTRAP,
  keys,
  MAIN,
  run,
  serveFunding,
  startedEdge,
  edgeEnvironment,
  waitFor,
} from "./testing/test-process.ts";

test("a key is created, used and rotated while the edge runs, and its revocation takes effect within a second", async () => {
  const { env, natsUrl, database } = await edgeEnvironment();
  await serveFunding(natsUrl);
  const edge = await startedEdge(env);
  const depositWith = (key: string, headers: Record<string, string> = {}) =>
    fetch(`${edge.url}/api/v1/investor/deposit?login=1&amount=1`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, ...headers },
    });
  const retry = { "idempotency-key": "crm-4711" };

  expect((await depositWith(BOOTSTRAP)).status).toBe(200);
  const created = await keys("create --name CRM --scopes funds:deposit", env);
  expect([created.code, created.out]).toEqual([
    0,
    expect.stringMatching(/^pamm_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/),
  ]);
  expect(created.errors).not.toContain(created.out);
  const id = created.out.split("_")[2] ?? "";
  const first = await depositWith(created.out, retry);
  expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([200, null]);

  const rotated = await keys(`rotate ${id} --overlap PT1H`, env);
  expect([(await depositWith(created.out)).status, (await depositWith(rotated.out)).status]).toEqual([200, 200]);

  const repeated = await depositWith(rotated.out, retry);
  expect([repeated.status, repeated.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
  expect(repeated.headers.get("x-operation-id")).toBe(first.headers.get("x-operation-id"));

  const listed = await keys("list", env);
  expect(listed.out.split("\n")).toHaveLength(4);
  expect(listed.out).toMatch(/^bootstrap +bootstrap +test +active/m);
  const foreign = await keys("create --name CRM --scopes funds:deposit --environment live", env);
  expect([foreign.code, foreign.errors]).toEqual([
    2,
    expect.stringContaining("--environment must be test in this system, because its PAMM_REHEARSAL is true."),
  ]);
  expect(listed.out).not.toContain(created.out.split("_")[3]);

  expect((await keys(`revoke ${id}`, env)).code).toBe(0);
  const refused = await waitFor(
    "the revocation",
    async () => ((await depositWith(created.out)).status === 401 ? true : undefined),
    1_000,
  );
  expect(refused).toBe(true);
  expect((await depositWith(rotated.out)).status).toBe(200);

  edge.child.kill("SIGTERM");
  const [code] = (await once(edge.child, "close")) as [number];
  const audited = await many<{ decision: string }>(database.pool, sql`select decision from access_audit`);
  expect([code, audited.length >= 6, edge.out().includes(created.out)]).toEqual([0, true, false]);
});

test("requests are refused with 503 while the broker is lost, and are served again when it returns", async () => {
  const [database, nats] = [await testDatabase("edge"), await startOwnNats()];
  const edge = await startedEdge({
    EDGE_DATABASE_URL: database.url,
    NATS_URL: nats.url,
    PAMM_HTTP_PORT: "0",
    PAMM_METRICS_PORT: "0",
    PAMM_API_KEY_PEPPER: randomBytes(32).toString("base64"),
    PAMM_REHEARSAL: "true",
    PAMM_BOOTSTRAP_API_KEY: BOOTSTRAP,
  });
  const headers = { authorization: `Bearer ${BOOTSTRAP}` };
  await nats.kill();
  const answer = await waitFor(
    "a refusal",
    async () => {
      const response = await fetch(`${edge.url}/api/v1/master/7`, { headers });
      return response.status === 503 ? await response.json() : undefined;
    },
    30_000,
  );

  expect(answer).toMatchObject({ code: "service_unavailable", retryable: true });
  const begunAt = Date.now();
  const ready = await fetch(`${edge.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { status: "starting", broker: { reachable: false } }]);
  expect(Date.now() - begunAt).toBeLessThan(20_000);
  expect((await fetch(`${edge.url}/healthz`)).status).toBe(200);
  await nats.restart();
  await serveFunding(nats.url);
  await waitFor(
    "the broker",
    async () =>
      (await (await fetch(`${edge.url}/api/v1/info/balance/1`, { headers })).text()).includes('"ok":true')
        ? true
        : undefined,
    30_000,
  );
});

test(
  "a service without its migrations refuses to start, and PAMM_MIGRATE=apply migrates with one URL and ends with exit code 0",
  { timeout: 120_000 },
  async () => {
    const { adminUrl, name } = await emptyDatabase("elsewhere");
    await makeRoles(inject("postgresUrl"), name);
    const { env } = await edgeEnvironment();
    const serving = { ...env, PAMM_MIGRATE: "check", EDGE_DATABASE_URL: urlAs(adminUrl, "pamm_edge") };
    const ended = async (settings: Readonly<Record<string, string>>): Promise<[number, string]> => {
      const { child, errors } = run(MAIN, [], settings);
      const [code] = (await once(child, "close")) as [number];
      return [code, errors()];
    };
    const owner = { PAMM_MIGRATE: "apply", EDGE_DATABASE_MIGRATION_URL: urlAs(adminUrl, "pamm_edge_owner") };

    expect(await ended(serving)).toEqual([
      1,
      "edge cannot start: schema edge lacks 0001_edge: start it once with PAMM_MIGRATE=apply and EDGE_DATABASE_MIGRATION_URL of the owner\n",
    ]);
    expect(await ended(owner)).toEqual([0, ""]);

    // The others are migrated as well before one of them starts.
    expect(await ended(serving)).toEqual([
      1,
      `edge cannot start: database ${name} has no tables of account, fee, funding, platform, subscription: all services work in one database, migrate all schemas there, or restore it with all of them\n`,
    ]);
    for (const schema of ["account", "fee", "funding", "platform", "subscription"]) {
      await migrate({ url: urlAs(adminUrl, `pamm_${schema}_owner`), schema, folder: import.meta.dirname });
    }

    const { url } = await startedEdge(serving);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  },
);

test("a port that is in use fails the start with one error line", async () => {
  const { env } = await edgeEnvironment();
  const occupied = createServer().listen(0, "127.0.0.1");
  await once(occupied, "listening");
  onTestFinished(() => void occupied.close());
  const { port } = occupied.address() as { port: number };
  const { child, errors } = run(MAIN, [], { ...env, PAMM_HTTP_PORT: String(port) });
  const [code] = (await once(child, "close")) as [number];

  expect([code, errors().split("\n")]).toEqual([
    1,
    [expect.stringContaining(`edge cannot start: port ${port} on 127.0.0.1 is taken: choose another`), ""],
  ]);
});

test("failpoints are refused where real money is moved", async () => {
  const { env } = await edgeEnvironment();
  const folder = "/nowhere";
  const { child, errors } = run(MAIN, [], { ...env, PAMM_FAILPOINTS: folder, PAMM_REHEARSAL: "false" });
  const [code] = (await once(child, "close")) as [number];

  expect([code, errors()]).toEqual([
    1,
    "edge cannot start: PAMM_FAILPOINTS makes the process kill itself: remove it, or set PAMM_REHEARSAL=true where no real money is moved\n",
  ]);
});

test("all configuration errors are reported at once, without values", async () => {
  const { child, errors } = run(MAIN, [], {
    PAMM_HTTP_PORT: "http",
    PAMM_BOOTSTRAP_API_KEY: "planted",
    PAMM_RATE_READ: "0",
  });
  const [code] = (await once(child, "close")) as [number];

  expect([code, errors().trim().split("\n").toSorted()]).toEqual([
    1,
    [
      "edge cannot start: EDGE_DATABASE_URL or DATABASE_URL is missing: expected a URL that begins with postgres: or postgresql:",
      "edge cannot start: PAMM_API_KEY_PEPPER is missing: expected 32 bytes in base64",
      "edge cannot start: PAMM_BOOTSTRAP_API_KEY is not valid: expected 16 to 200 visible ASCII characters",
      "edge cannot start: PAMM_HTTP_PORT is not valid: expected a port, 0 to 65535",
      "edge cannot start: PAMM_RATE_READ is not valid: expected a whole number from 1 to 1000000",
    ],
  ]);
});

test("the keys command finds the running system by the state folder", async () => {
  const { env } = await edgeEnvironment();
  using folder = mkdtempDisposableSync(join(tmpdir(), "keys-"));
  const state = { PAMM_STATE_DIR: folder.path };
  expect(await keys("list", state)).toMatchObject({
    code: 1,
    errors: expect.stringContaining("No running system found"),
  });

  const pepperFile = join(folder.path, "pepper");
  writeFileSync(pepperFile, env["PAMM_API_KEY_PEPPER"] ?? "");
  const runFile = { edgeDatabaseUrl: env["EDGE_DATABASE_URL"], natsUrl: env["NATS_URL"], pepperFile };
  mkdirSync(join(folder.path, "run"));
  writeFileSync(join(folder.path, "run", "system.json"), JSON.stringify(runFile));
  expect(await keys("create --name CRM --scopes masters:read", state)).toMatchObject({
    code: 2,
    errors: expect.stringContaining("--environment is required before the first start of the system"),
  });
  const created = await keys("create --name CRM --scopes masters:read --environment test", state);

  expect(created).toMatchObject({ code: 0, out: expect.stringMatching(/^pamm_test_/) });
  const edge = await startedEdge(env);
  const headers = { authorization: `Bearer ${created.out}` };
  expect((await fetch(`${edge.url}/api/v1/master/x`, { headers })).status).toBe(422);
});

test("the keys command refuses an unknown option before it connects to anything", async () => {
  const unknown = await keys("create --name CRM --scopes masters:read --force", {});
  const help = await keys("--help", {});

  expect([unknown.code, unknown.out, unknown.errors]).toEqual([
    2,
    "",
    "keys: Unknown option '--force'.\nkeys: for usage, run: npm run keys -- help\n",
  ]);
  expect([help.code, help.out.startsWith("Usage: npm run keys")]).toEqual([0, true]);
});
