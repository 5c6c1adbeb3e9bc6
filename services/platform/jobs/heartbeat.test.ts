import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { aWorld } from "../testing/world.ts";
import { heartbeat } from "./heartbeat.ts";

test.concurrent("a running process records its heartbeat and keeps its sessions", async (context) => {
  const world = await aWorld(context);
  const { deps } = await world.start({ hasJobs: false });
  using session = await deps.mt5.acquireForCommand();
  const before = await many(deps.pool, sql`select heartbeat_at from sender`);

  expect(await heartbeat(deps)).toBe(false);

  expect(await many(deps.pool, sql`select heartbeat_at from sender`)).not.toEqual(before);
  expect(deps.mt5.isLive(session.sessionId)).toBe(true);
});

test.concurrent("a process that cannot reach its database resets its sessions", async (context) => {
  const world = await aWorld(context);
  const { deps } = await world.start({ hasJobs: false });
  using session = await deps.mt5.acquireForCommand();
  const options = { schema: "platform", applicationName: "lost", max: 1 };
  await using lost = createPool({ url: "postgres://unknown@127.0.0.1:9/nowhere", ...options });

  await expect(heartbeat({ ...deps, pool: lost })).rejects.toThrow();

  expect(deps.mt5.isLive(session.sessionId)).toBe(false);
});
