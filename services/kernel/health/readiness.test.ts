import { register } from "prom-client";
import { expect, test } from "vitest";
import { emptyDatabase } from "#test/support/database.ts";
import { waitFor } from "#test/support/wait-for.ts";
import { startNats } from "../../../deploy/local/nats.ts";
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../process/log.ts";
import { connectNats } from "../nats/connect.ts";
import { readinessOf } from "./readiness.ts";

const log = createLog({ service: "test", level: "silent" });

async function shownAsReachable(): Promise<number | undefined> {
  return (await register.getSingleMetric("pamm_postgres_reachable")?.get())?.values[0]?.value;
}

test("a service is ready while its database and its broker answer, and names the one that does not", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "readiness-"));
  await using database = await emptyDatabase("readiness");
  const server = await startNats({ dir: folder.path });
  await using broker = await connectNats({ url: server.url, name: "test", log });
  let draining = false;
  const missing = readinessOf({ pool: database.pool, broker, isDraining: () => draining });
  expect(await missing()).toEqual([]);

  await server[Symbol.asyncDispose]();
  await waitFor(async () => expect(await missing()).toEqual(["broker"]));
  expect(await shownAsReachable()).toBe(1);
  await database.pool.end();
  await waitFor(async () => expect(await missing()).toEqual(["database", "broker"]));
  expect(await shownAsReachable()).toBe(0);
  draining = true;
  expect(await missing()).toEqual(["draining"]);
});

test("a database that accepts connections and does not answer is missing, in time", async () => {
  const pool = { query: () => new Promise(() => {}) };
  const broker = { isConnected: () => true, connection: { flush: async () => {} } };
  const missing = readinessOf({ pool, broker, isDraining: () => false } as unknown as Parameters<
    typeof readinessOf
  >[0]);
  const begunAt = performance.now();

  expect(await missing()).toEqual(["database"]);
  expect(performance.now() - begunAt).toBeLessThan(20_000);
});
