import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { edgeEnvironment, keys, serveFunding, startedEdge } from "./testing/test-process.ts";

const BALANCE = "/api/v1/info/balance/:mt5_login";
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}

test("a read that is refused with 401, 403 or 429 is in the access audit and is counted, and one that is answered is not audited", async () => {
  const { env, natsUrl, database } = await edgeEnvironment();
  await serveFunding(natsUrl);
  const metricsPort = await freePort();
  const edge = await startedEdge({
    ...env,
    PAMM_RATE_READ: "1",
    PAMM_COMMIT: "c0ffee",
    PAMM_METRICS_PORT: String(metricsPort),
  });
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
  const idOf = (key: string) => key.split("_")[2];
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
