import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Secret } from "#kernel/secret.ts";
import type { Mt5Client } from "./client.ts";
import { type PlatformServer, startPlatformServer } from "./testing/platform-server.ts";

/** Later than any test waits. */
const MUCH_LATER = { delay_ms: 600_000 };

let platform: PlatformServer;
let mt5: Mt5Client;

beforeAll(async () => {
  platform = await startPlatformServer({ timeZone: "UTC" });
});
beforeEach(() => {
  mt5?.[Symbol.dispose]();
  mt5 = platform.client({ limits: { commandTimeoutMs: 2_000 } });
});
afterAll(async () => {
  mt5[Symbol.dispose]();
  await platform[Symbol.asyncDispose]();
});

async function deposit(login: string) {
  using session = await mt5.acquireForCommand();
  const order = { login, amountMinor: 100_00n, comment: "TEST", checkMargin: true, mayWrite: () => true };
  return { outcome: await session.changeBalance(order), sessionId: session.sessionId };
}

/** Number of calls of a command that reached the platform on a signed-in session. */
async function calls(command: string): Promise<number> {
  const { calls: counts } = await platform.control<{ calls: Record<string, number> }>("GET", "stats");
  return counts[command] ?? 0;
}

/** Sends one deposit under one fault, exactly once; returns its outcome and the number of deals. */
async function depositUnderFault(effect: string, more: object = {}) {
  const login = await platform.account();
  const before = await calls("trade/balance");
  await platform.fault("trade/balance", effect, more);
  const { outcome, sessionId } = await deposit(login);
  expect((await calls("trade/balance")) - before).toBe(1);
  return { outcome, sessionId, login, deals: (await platform.deals(login)).length };
}

test("a command dropped before its execution is unknown, has no deal and ends its session", async () => {
  const { outcome, deals, sessionId } = await depositUnderFault("drop_before");
  expect(outcome).toEqual({ kind: "unknown", reason: "connection_lost" });
  expect(deals).toBe(0);
  expect(mt5.isLive(sessionId)).toBe(false);
});

test("a command dropped after its execution is unknown and has exactly one deal", async () => {
  const { outcome, deals } = await depositUnderFault("drop_after");
  expect(outcome).toEqual({ kind: "unknown", reason: "connection_lost" });
  expect(deals).toBe(1);
});

test("after a late answer the outcome is unknown, one deal exists, and no caller receives the answer from the reset session", async () => {
  const { outcome, deals, login, sessionId } = await depositUnderFault("delay", MUCH_LATER);
  expect(outcome).toEqual({ kind: "unknown", reason: "timeout" });
  expect(deals).toBe(1);
  expect(mt5.isLive(sessionId)).toBe(false);
  await platform.control("POST", "faults/end");
  expect((await mt5.getUser(login))?.balanceMinor).toBe(100_00n);
});

test("a command executed after its connection ended is unknown and has exactly one deal afterwards", async () => {
  const { outcome, deals, login } = await depositUnderFault("late_apply", MUCH_LATER);
  expect(outcome).toMatchObject({ kind: "unknown" });
  expect(deals).toBe(0);
  await platform.control("POST", "faults/end");
  await expect.poll(async () => (await platform.deals(login)).length).toBe(1);
  await pause(100);
  expect(await platform.deals(login)).toHaveLength(1);
});

test("ambiguous codes and statuses are unknown, a listed code is a refusal", async () => {
  for (const [effect, outcome] of [
    ["retcode:9", { kind: "unknown", reason: "ambiguous_code", code: 9 }],
    ["retcode:10", { kind: "unknown", reason: "ambiguous_code", code: 10 }],
    ["retcode:4", { kind: "unknown", reason: "ambiguous_code", code: 4 }],
    ["retcode:12", { kind: "refused", code: 12 }],
    ["http:403", { kind: "unknown", reason: "http_status", code: 403 }],
    ["http:502", { kind: "unknown", reason: "http_status", code: 502 }],
    ["http:302", { kind: "unknown", reason: "http_status", code: 302 }],
  ] as const) {
    const { outcome: actual, deals } = await depositUnderFault(effect);
    expect(actual, effect).toEqual(outcome);
    expect(deals).toBe(0);
  }
});

test("after each fault the next command works", async () => {
  const login = await platform.account();
  for (const effect of ["drop_before", "drop_after", "http:403", "delay"]) {
    await platform.fault("trade/balance", effect, MUCH_LATER);
    await deposit(login);
    expect((await deposit(login)).outcome, effect).toMatchObject({ kind: "applied" });
  }
});

test("a read that is forbidden once is repeated after signing in again", async () => {
  const login = await platform.account("1.00");
  await platform.fault("user/get", "http:403");
  const before = await calls("auth/start");
  expect((await mt5.getUser(login))?.balanceMinor).toBe(1_00n);
  expect((await calls("auth/start")) - before).toBeGreaterThan(0);
});

test("a read whose connection is dropped is repeated", async () => {
  const login = await platform.account("1.00");
  await platform.fault("deal/get_page", "drop_before");
  const period = { from: new Date(Date.now() - 60_000), to: new Date() };
  expect(await mt5.readDeals(login, period)).toHaveLength(1);
});

test("a page that cannot be read is an error and not an empty page", async () => {
  const login = await platform.account("1.00");
  const period = { from: new Date(Date.now() - 60_000), to: new Date() };
  await platform.fault("deal/get_page", "retcode:9");
  await expect(mt5.readDeals(login, period)).rejects.toMatchObject({ problem: "retcode", retcode: 9 });
  // The account has a page with a deal, which contradicts that its list is not found.
  await platform.fault("deal/get_total", "retcode:13", { times: 3 });
  await expect(mt5.readDeals(login, period)).rejects.toMatchObject({ problem: "incomplete" });
  await platform.fault("deal/get_total", "retcode:13");
  expect(await mt5.readDeals(login, period)).toHaveLength(1);
  await platform.fault("deal/get_total", "retcode:13");
  await platform.fault("user/get", "retcode:13");
  await expect(mt5.readDeals(login, period)).rejects.toMatchObject({ problem: "retcode", retcode: 13 });
});

test("after a restart of the server the next call gets a new session", async () => {
  const login = await platform.account();
  expect((await deposit(login)).outcome).toMatchObject({ kind: "applied" });
  await platform.control("POST", "restart", {});
  expect((await deposit(login)).outcome).toMatchObject({ kind: "applied" });
  expect(await platform.deals(login)).toHaveLength(2);
});

test("a command during a restart is unknown and never sent again", async () => {
  const login = await platform.account();
  await platform.fault("trade/balance", "delay", MUCH_LATER);
  const before = await calls("trade/balance");
  const sending = deposit(login);
  await expect.poll(() => calls("trade/balance")).toBe(before + 1);
  await platform.control("POST", "restart", {});
  expect((await sending).outcome).toEqual({ kind: "unknown", reason: "connection_lost" });
  await platform.control("POST", "faults/end");
  await pause(300);
  expect(await platform.deals(login)).toHaveLength(1);
  expect(await calls("trade/balance")).toBe(before + 1);
});

test("no request is lost when the server closes idle connections", async () => {
  await using shortIdle = await startPlatformServer({ idleCloseMs: 400, timeZone: "UTC" });
  using client = shortIdle.client({ limits: { pingEveryMs: 20_000, proveAliveAfterMs: 20 } });
  const login = await shortIdle.account();
  for (let count = 1; count <= 6; count += 1) {
    using session = await client.acquireForCommand();
    const order = { login, amountMinor: 1_00n, comment: "A", checkMargin: true, mayWrite: () => true };
    expect(await session.changeBalance(order)).toMatchObject({ kind: "applied" });
    session[Symbol.dispose]();
    await pause(350 + 25 * count);
  }
  expect(await shortIdle.deals(login)).toHaveLength(6);
});

test("pings keep a session open that the server would close as idle", async () => {
  await using shortIdle = await startPlatformServer({ idleCloseMs: 2_500, timeZone: "UTC" });
  using client = shortIdle.client({ limits: { pingEveryMs: 500 } });
  using first = await client.acquireForCommand();
  first[Symbol.dispose]();
  await pause(4_000);
  expect(client.isLive(first.sessionId)).toBe(true);
});

test("a wrong manager password is reported with its reason", async () => {
  using client = platform.client({
    credentials: { login: String(platform.simulator.managerLogin), password: new Secret("wrong") },
    limits: { backoff: { firstMs: 60_000, lastMs: 60_000 } },
  });
  await expect(client.getUser("1")).rejects.toThrow("the platform refuses the manager login (HTTP 403)");
});

test("fifty concurrent deposits on three sessions are fifty deals", async () => {
  const client = platform.client({ maxSessions: 3, limits: { waitMs: 10_000 } });
  using _client = client;
  const login = await platform.account();
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      using session = await client.acquireForCommand();
      const order = { login, amountMinor: 1n, comment: `N${index}`, checkMargin: true, mayWrite: () => true };
      return await session.changeBalance(order);
    }),
  );
  const tickets = outcomes.map((outcome) => (outcome.kind === "applied" ? outcome.ticket : outcome));
  expect(new Set(tickets).size).toBe(50);
  const deals = await platform.deals(login);
  expect(new Set(deals.map(({ comment }) => comment)).size).toBe(50);
  expect(deals).toHaveLength(50);
});
