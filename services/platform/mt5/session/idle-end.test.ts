import { expect, test } from "vitest";
import type { Log } from "#kernel/log.ts";
import { startPlatformServer } from "../testing/platform-server.ts";
import { silentLog } from "../testing/test-client.ts";

/** Back-off pauses longer than the limits of the tests, and no ping before the server closes a session. */
const LIMITS = { backoff: { firstMs: 2_000, lastMs: 30_000 }, pingEveryMs: 60_000 };

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

test("sessions that the server closes as idle are replaced without a pause, and reads are answered", async () => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 700 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: LIMITS });
  await expect.poll(() => counts.ended, { timeout: 10_000, interval: 20 }).toBe(3);
  await expect.poll(() => counts.opened, { timeout: 1_500, interval: 20 }).toBe(4);

  const startedAt = performance.now();
  expect(await client.getUser("3999999")).toBeUndefined();
  expect(performance.now() - startedAt).toBeLessThan(1_500);
  expect(counts.warnings).toBe(0);
  expect(client.status()).toMatchObject({ reachable: true, lastError: undefined });
});

test("pings keep a session open for longer than the server lets connections be idle", async () => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 1_000 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: { ...LIMITS, pingEveryMs: 300 } });
  const pings = async () => {
    const { calls } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
    return calls["test/access"] ?? 0;
  };
  await expect.poll(pings, { timeout: 10_000, interval: 100 }).toBeGreaterThanOrEqual(8);
  expect(counts).toEqual({ opened: 1, ended: 0, warnings: 0 });
  expect(client.status().reachable).toBe(true);
});
