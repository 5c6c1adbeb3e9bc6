import { expect, test } from "vitest";
import type { Log } from "#kernel/log.ts";
import { startPlatformServer } from "../testing/platform-server.ts";
import { silentLog } from "../testing/test-client.ts";

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

test("sessions that the server closes as idle are replaced without a pause, and reads are answered", async () => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 2_000 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: LIMITS });
  await expect.poll(() => counts.ended, { interval: 20 }).toBeGreaterThanOrEqual(3);
  await expect.poll(() => counts.opened, { interval: 20 }).toBeGreaterThanOrEqual(4);

  expect(await client.getUser("3999999")).toBeUndefined();
  expect(counts.warnings).toBe(0);
  expect(client.status()).toMatchObject({ reachable: true, lastError: undefined });
});

test("pings keep a session open for longer than the server lets connections be idle", async () => {
  await using platform = await startPlatformServer({ timeZone: "UTC", idleCloseMs: 3_000 });
  const { counts, log } = countingLog();
  using client = platform.client({ log, limits: { ...LIMITS, pingEveryMs: 600 } });
  const pings = async () => {
    const { calls } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
    return calls["test/access"] ?? 0;
  };
  await expect.poll(pings, { interval: 100 }).toBeGreaterThanOrEqual(8);
  expect(counts).toEqual({ opened: 1, ended: 0, warnings: 0 });
  expect(client.status().reachable).toBe(true);
});
