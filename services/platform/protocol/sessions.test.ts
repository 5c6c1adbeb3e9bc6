import { expect, test } from "vitest";
import type { CommandSession } from "../mt5/client.ts";
import { aWorld } from "../testing/world.ts";
import { acquireSessions } from "./sessions.ts";

test("a batch of permits leaves half of the sessions to the next one, however many there are", async (context) => {
  const world = await aWorld(context);
  for (const [sessions, sessionsAtOnce] of [
    [4, 2],
    [1, 1],
  ] as const) {
    const { deps } = await world.start({ hasJobs: false, sessions, settings: { sessionsAtOnce } });
    using batch = await acquireSessions(deps, { sends: 100, sendsOfASession: 8, waitMs: 5_000 });
    const taken = new Set<CommandSession | undefined>();
    for (let permit = batch.next(); permit !== undefined; permit = batch.next()) taken.add(permit);
    expect(taken.size).toBeLessThanOrEqual(sessionsAtOnce);
    expect(batch.maxItems).toBe(8 * taken.size);
  }
});
