import { expect, test } from "vitest";
import { many, sql } from "#kernel/postgres/query.ts";
import { createPool } from "#kernel/postgres/pool.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { stopAllPermits } from "../protocol/reviews/stop-for-lost-commits.ts";
import { withInProcessState } from "../in-process-state.ts";
import { registerInstance } from "../register-instance.ts";
import { resumePermits } from "../store/permit-gate.ts";
import { aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld, aProcess } from "../testing/world.ts";
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

test.concurrent("a process ends when its database is on another timeline, and grants no permit there", async (context) => {
  const { world, instance, deps } = await aProcess(context, { hasJobs: false });
  const login = await anAccount(instance, "investor");
  using session = await deps.mt5.acquireForCommand();
  await world.database.admin.query(
    `create or replace function database_identity() returns text language sql as $$ select 'other' $$`,
  );
  const funds = aTransfer("promoted", [{ login, kind: MovementKind.DEPOSIT, minor: 1_00n }]);

  await expect(instance.service.transfer(funds, aCall())).rejects.toThrow("the leg numbers are not raised");
  // Another process has raised them.
  await deps.pool.query("update leg_numbering set database = 'other'");
  await expect(instance.service.transfer(funds, aCall())).rejects.toMatchObject({ code: "service_unavailable" });
  await expect(heartbeat(deps)).rejects.toThrow(
    "the database was restarted or restored, or another server has taken over",
  );

  expect(deps.mt5.isLive(session.sessionId)).toBe(false);
  expect(await many(deps.pool, sql`select number from leg`)).toEqual([]);
});

test.concurrent("a process ends when its registration is not in the database any more", async (context) => {
  const world = await aWorld(context);
  const { deps } = await world.start({ hasJobs: false });
  await deps.pool.query("delete from sender");

  await expect(heartbeat(deps)).rejects.toThrow(
    "the database was restarted or restored, or another server has taken over",
  );
});

test.concurrent("a step of the database's clock is noticed, and only time after it counts", async (context) => {
  const world = await aWorld(context);
  const { deps } = await world.start({ hasJobs: false });
  const { clock } = deps.sender;
  await heartbeat(deps);
  const steady = clock.steadySinceMs;
  // Between two heartbeats the database's clock was set forward by ten minutes.
  const atMs = performance.now();
  clock.note({ databaseMs: clock.nowMs() - 600_000, fromMs: atMs, toMs: atMs });
  const lines: string[] = [];
  const log = { ...deps.log, error: (message: string) => lines.push(message) };

  await heartbeat({ ...deps, log });

  expect(lines).toEqual(["clock of the database was stepped, no absence is declared for a quiet period"]);
  expect(clock.steadySinceMs).toBeGreaterThan(steady);
  expect(Math.abs(clock.steadySinceMs - clock.nowMs())).toBeLessThan(60_000);
});

test.concurrent("a process logs once that sending is stopped, also when it was before its start, and that it is resumed", async (context) => {
  const world = await aWorld(context);
  const { deps } = await world.start({ hasJobs: false });
  await inTransaction(deps.pool, (tx) => stopAllPermits(tx, { login: "3000000", evidence: {} }));
  const lines: string[] = [];
  const note = (message: string) => lines.push(message);
  const log = { ...deps.log, error: note, info: note };

  const sender = await registerInstance({ pool: deps.pool, log });
  const started = withInProcessState({ ...deps, log, sender });
  await heartbeat(started);
  await heartbeat(started);
  expect(lines).toEqual([
    "sending stopped, because the database has lost movements of the platform, manual review required",
  ]);

  await inTransaction(deps.pool, resumePermits);
  for (let times = 0; times < 2; times += 1) await heartbeat(started);
  expect(lines.slice(1)).toEqual(["sending resumed, operators have decided"]);

  await inTransaction(deps.pool, (tx) => stopAllPermits(tx, { login: "3000000", evidence: {} }));
  for (let times = 0; times < 2; times += 1) await heartbeat(started);
  expect(lines.slice(2)).toEqual(lines.slice(0, 1));
});
