import { migrate } from "#kernel/postgres/migrate.ts";
import { once } from "node:events";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { makeRoles, urlAs } from "#test/support/database-server.ts";
import { emptyDatabase } from "#test/support/database.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { BOOTSTRAP, edgeEnvironment, ended, keys, MAIN, serveFunding, startedEdge } from "./testing/test-process.ts";

const BALANCE = "/api/v1/info/balance/:mt5_login";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

const idOf = (key: string): string => key.split("_")[2] ?? "";

test("a read that is refused with 401, 403 or 429 is audited and counted, one that is answered is not audited; a second edge on the port does not start", async () => {
  const { env, natsUrl, database } = await edgeEnvironment();
  await serveFunding(natsUrl);
  const metricsPort = await freePort();
  const ports = { PAMM_METRICS_PORT: String(metricsPort) };
  const edge = await startedEdge({ ...env, ...ports, PAMM_RATE_READ: "1", PAMM_COMMIT: "c0ffee" });
  const { port } = new URL(edge.url);
  expect(await ended(MAIN, [], { ...env, PAMM_HTTP_PORT: port })).toEqual([
    1,
    expect.stringMatching(`^edge cannot start: port ${port} on 127.0.0.1 is taken: choose another.*\n$`),
  ]);
  const created = await Promise.all(
    ["investors:read", "masters:read"].map((scopes) => keys(`create --name Ann --scopes ${scopes}`, env)),
  );
  const [reader = "", other = ""] = created.map(({ out }) => out);
  const read = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}` };
    return (await fetch(`${edge.url}/api/v1/info/balance/1`, { headers })).status;
  };

  const url = `${edge.url}/api/v1/info/balance/1`;
  expect((await fetch(url)).status).toBe(401);
  const refused = [await read("unknown"), await read(other)];
  const reads = await Promise.all(Array.from({ length: 10 }, () => read(reader)));

  expect(refused).toEqual([401, 403]);
  expect(new Set(reads)).toEqual(new Set([200, 429]));
  const limited = reads.filter((status) => status === 429).length;
  const audited = () =>
    many(
      database.pool,
      sql`select status, code, key_id as key, client, decision, method, count(*)::integer as times
            from access_audit where route = ${BALANCE} group by 1, 2, 3, 4, 5, 6 order by status`,
    );
  const entry = { decision: "denied", method: "GET", times: 1 };
  await expect.poll(audited, { timeout: 10_000 }).toEqual([
    { ...entry, status: 401, code: "unauthorized", key: null, client: null, times: 2 },
    { ...entry, status: 403, code: "insufficient_scope", key: idOf(other), client: "Ann" },
    { ...entry, status: 429, code: "rate_limited", key: idOf(reader), client: "Ann", times: limited },
  ]);
  const metrics = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const counted = [...metrics.matchAll(/^pamm_http_problems_total\{route="([^"]+)",code="([^"]+)"\} (\d+)$/gm)];
  expect(counted.map(([, route, code, times]) => [route, code, Number(times)])).toEqual([
    [BALANCE, "unauthorized", 2],
    [BALANCE, "insufficient_scope", 1],
    [BALANCE, "rate_limited", limited],
  ]);
  const failures = [...metrics.matchAll(/^pamm_http_authentication_failures_total\{reason="(\w+)"\} ([1-9]\d*)$/gm)];
  expect(Object.fromEntries(failures.map(([, reason, times]) => [reason, Number(times)]))).toEqual({
    no_key: 1,
    malformed_key: 1,
    scope: 1,
  });
  const ofReads = `class="read",route="${BALANCE}",method="GET",status="429"`;
  expect(metrics).toContain(`pamm_http_request_duration_seconds_count{${ofReads}} ${limited}`);
  expect(metrics).toMatch(/^pamm_build_info\{service="edge",version="\d+\.\d+\.\d+[^"]*",commit="c0ffee"\} 1$/m);
});

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
  const id = idOf(created.out);
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
  await waitFor(async () => expect((await depositWith(created.out)).status).toBe(401), { timeout: 1_000 });
  expect((await depositWith(rotated.out)).status).toBe(200);

  edge.child.kill("SIGTERM");
  const [code] = (await once(edge.child, "close")) as [number];
  const audited = await many<{ decision: string }>(database.pool, sql`select decision from access_audit`);
  expect([code, audited.length >= 6, edge.out().includes(created.out)]).toEqual([0, true, false]);
});

test("requests are refused with 503 while the broker is lost, and are served again when it returns", async () => {
  const { env, nats } = await edgeEnvironment();
  const edge = await startedEdge(env);
  const headers = { authorization: `Bearer ${BOOTSTRAP}` };
  await nats.kill();
  await waitFor(async () =>
    expect(await (await fetch(`${edge.url}/api/v1/master/7`, { headers })).json()).toMatchObject({
      code: "service_unavailable",
      retryable: true,
    }),
  );
  const begunAt = Date.now();
  const ready = await fetch(`${edge.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { status: "starting", broker: { reachable: false } }]);
  expect(Date.now() - begunAt).toBeLessThan(20_000);
  expect((await fetch(`${edge.url}/healthz`)).status).toBe(200);
  await nats.restart();
  await serveFunding(nats.url);
  const balance = async () => (await fetch(`${edge.url}/api/v1/info/balance/1`, { headers })).text();
  await waitFor(async () => expect(await balance()).toContain('"ok":true'));
});

test(
  "a service without its migrations refuses to start, and PAMM_MIGRATE=apply migrates with one URL and ends with exit code 0",
  { timeout: 120_000 },
  async () => {
    const { adminUrl, name } = await emptyDatabase("elsewhere");
    await makeRoles(inject("postgresUrl"), name);
    const { env } = await edgeEnvironment();
    const serving = { ...env, PAMM_MIGRATE: "check", EDGE_DATABASE_URL: urlAs(adminUrl, "pamm_edge") };
    const end = (settings: Readonly<Record<string, string>>) => ended(MAIN, [], settings);
    const owner = { PAMM_MIGRATE: "apply", EDGE_DATABASE_MIGRATION_URL: urlAs(adminUrl, "pamm_edge_owner") };

    expect(await end(serving)).toEqual([
      1,
      "edge cannot start: schema edge lacks 0001_edge: start it once with PAMM_MIGRATE=apply and EDGE_DATABASE_MIGRATION_URL of the owner\n",
    ]);
    expect(await end(owner)).toEqual([0, ""]);

    // The others are migrated as well before one of them starts.
    expect(await end(serving)).toEqual([
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

test("all configuration errors are reported at once, without values, and failpoints are refused where real money is moved", async () => {
  const wrong = { PAMM_HTTP_PORT: "http", PAMM_BOOTSTRAP_API_KEY: "planted", PAMM_RATE_READ: "0" };
  const unsafe = {
    EDGE_DATABASE_URL: "postgres://127.0.0.1:1/none",
    NATS_URL: "nats://127.0.0.1:1",
    PAMM_API_KEY_PEPPER: Buffer.alloc(32).toString("base64"),
    PAMM_FAILPOINTS: "/nowhere",
    PAMM_REHEARSAL: "false",
  };
  const [[code, errors], refused] = await Promise.all([ended(MAIN, [], wrong), ended(MAIN, [], unsafe)]);

  expect([code, errors.trim().split("\n").toSorted()]).toEqual([
    1,
    [
      "edge cannot start: EDGE_DATABASE_URL or DATABASE_URL is missing: expected a URL that begins with postgres: or postgresql:",
      "edge cannot start: PAMM_API_KEY_PEPPER is missing: expected 32 bytes in base64",
      "edge cannot start: PAMM_BOOTSTRAP_API_KEY is not valid: expected 16 to 200 visible ASCII characters",
      "edge cannot start: PAMM_HTTP_PORT is not valid: expected a port, 0 to 65535",
      "edge cannot start: PAMM_RATE_READ is not valid: expected a whole number from 1 to 1000000",
    ],
  ]);
  expect(refused).toEqual([
    1,
    "edge cannot start: PAMM_FAILPOINTS makes the process kill itself: remove it, or set PAMM_REHEARSAL=true where no real money is moved\n",
  ]);
});

test("the keys command finds the running system by the state folder", async () => {
  const { env, database } = await edgeEnvironment();
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
  expect(await many(database.pool, sql`select id from api_key`)).toEqual([{ id: idOf(created.out) }]);
});
