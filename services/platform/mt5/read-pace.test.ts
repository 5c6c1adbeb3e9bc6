import { expect, test } from "vitest";
import { type Reply, startScriptedServer } from "./testing/scripted-server.ts";
import { aClient, USER } from "./testing/test-client.ts";

const FREQUENT = '{"retcode":"12 Too frequent requests"}';
const limits = { readBackoff: { firstMs: 500, lastMs: 4_000 }, waitMs: 5_000 };
const tooMany = (head = ""): Reply => ({ status: 429, head, body: "slow down" });

/** Answers these in their order, and then as documented. */
async function answering(...first: Reply[]) {
  const answers = [...first];
  const server = await startScriptedServer(({ path }) => (path === "user/get" ? (answers.shift() ?? USER) : undefined));
  const client = aClient(server, { limits });
  const reads = () => server.count("user/get");
  return {
    server,
    client,
    reads,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

test.concurrent("a read that the platform finds too frequent is repeated after growing pauses", async () => {
  for (const answer of [FREQUENT, tooMany()]) {
    await using platform = await answering(answer, answer);
    const startedAt = performance.now();
    expect(await platform.client.getUser("1")).toMatchObject({ login: "1" });
    expect(performance.now() - startedAt).toBeGreaterThan(1_100);
    expect(platform.reads()).toBe(3);
    // The next read waits for nothing; the next pause would be two seconds.
    const nextAt = performance.now();
    await platform.client.getUser("1");
    expect(performance.now() - nextAt).toBeLessThan(1_400);
  }
});

test.concurrent("a platform that stays too busy fails the read with its reason", async () => {
  await using frequent = await answering(FREQUENT, FREQUENT, FREQUENT);
  await expect(frequent.client.getUser("1")).rejects.toMatchObject({ problem: "retcode", retcode: 12 });
  expect(frequent.reads()).toBe(3);
  await using many = await answering(tooMany(), tooMany(), tooMany());
  await expect(many.client.getUser("1")).rejects.toMatchObject({ problem: "http_status", status: 429 });
});

test.concurrent("all reads wait for one pause, and answers to reads of the same moment do not make it longer", async () => {
  await using platform = await answering(FREQUENT, FREQUENT, FREQUENT, FREQUENT);
  // The fourth pause would be eight times as long.
  using client = aClient(platform.server, {
    limits: { readBackoff: { firstMs: 1_500, lastMs: 60_000 }, waitMs: 60_000 },
  });
  const startedAt = performance.now();
  const reads = Array.from({ length: 4 }, () => client.getUser("1"));
  expect(await Promise.all(reads)).toHaveLength(4);
  expect(performance.now() - startedAt).toBeLessThan(8_000);
});

test.concurrent("a pause that the platform names is kept, and a read for which it is too long fails at once", async () => {
  await using platform = await answering(tooMany("Retry-After: 1\r\n"));
  const startedAt = performance.now();
  expect(await platform.client.getUser("1")).toMatchObject({ login: "1" });
  expect(performance.now() - startedAt).toBeGreaterThan(950);
  await using blocked = await answering(tooMany("Retry-After: 30\r\n"));
  await expect(blocked.client.getUser("1")).rejects.toMatchObject({ problem: "busy" });
  await expect(blocked.client.getUser("1")).rejects.toThrow("limits the rate of requests");
  expect(blocked.reads()).toBe(1);
});
