import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Log } from "#kernel/process/log.ts";
import { startPlatformServer } from "../testing/platform-server.ts";
import { sendOnce, silentLog } from "../testing/test-client.ts";

/** Back-off pauses longer than any test waits, and no ping before the server closes a session. */
const LIMITS = { backoff: { firstMs: 600_000, lastMs: 600_000 }, pingEveryMs: 600_000 };

function countingLog() {
  const counts = { opened: 0, ended: 0, warnings: 0 };
  const log: Log = {
    ...silentLog,
    info: (message) => {
      if (message.endsWith(" opened")) counts.opened += 1;
      if (message.endsWith(" ended")) counts.ended += 1;
    },
    warn: () => (counts.warnings += 1),
  };
  return { counts, log };
}

test.concurrent("sessions that the server closes as idle are replaced without a pause, and reads are answered", async (context) => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 1_000 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: LIMITS });
  await context.expect.poll(() => counts.ended, { interval: 20 }).toBeGreaterThanOrEqual(2);
  await context.expect.poll(() => counts.opened, { interval: 20 }).toBeGreaterThanOrEqual(3);

  expect(await client.getUser("3999999")).toBeUndefined();
  expect(counts.warnings).toBe(0);
  expect(client.status()).toMatchObject({ reachable: true, lastError: undefined });
});

test.concurrent("pings keep a session open for longer than the server lets connections be idle", async (context) => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 3_000 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: { ...LIMITS, pingEveryMs: 600 } });
  const pings = async () => {
    const { calls } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
    return calls["test/access"] ?? 0;
  };
  await context.expect.poll(pings, { interval: 100 }).toBeGreaterThanOrEqual(6);
  expect(counts).toEqual({ opened: 1, ended: 0, warnings: 0 });
  expect(client.status().reachable).toBe(true);
});

test.concurrent("no request is lost when the server closes idle connections", async () => {
  await using shortIdle = await startPlatformServer({ idleCloseMs: 400, timeZone: "UTC" });
  using client = shortIdle.client({ limits: { pingEveryMs: 20_000, proveAliveAfterMs: 20 } });
  const login = await shortIdle.account();
  for (let count = 1; count <= 3; count += 1) {
    expect(await sendOnce(client, { login, amountMinor: 1_00n })).toMatchObject({ kind: "applied" });
    await pause(350 + 50 * count);
  }
  expect(await shortIdle.deals(login)).toHaveLength(3);
});
