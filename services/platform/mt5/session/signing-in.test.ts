import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import { fingerprintOf, httpAnswer, MANAGER, selfSigned, startScriptedServer } from "../testing/scripted-server.ts";
import { aClient, sendOnce, USER } from "../testing/test-client.ts";

/** Callers whose wait ends before the next attempt receive the failure of the first one at once. */
const LONG_PAUSE = { backoff: { firstMs: 60_000, lastMs: 60_000 } };
const FORBIDDEN = { status: 403, body: "403 Forbidden" };

test.concurrent("a forbidden read signs in again on the same connection and is repeated once", async () => {
  let refusals = 1;
  await using server = await startScriptedServer(({ path }) => {
    if (path !== "user/get") return undefined;
    return (refusals -= 1) >= 0 ? FORBIDDEN : USER;
  });
  using client = aClient(server);
  expect(await client.getUser("1")).toMatchObject({ login: "1", balanceMinor: 1_00n });
  expect(server.paths()).toEqual(["auth/start", "auth/answer", "user/get", "auth/start", "auth/answer", "user/get"]);
  expect(server.connections).toHaveLength(1);
});

test.concurrent("a read that stays forbidden is an error, and its repetition does not sign in each time", async () => {
  await using server = await startScriptedServer(({ path }) => (path === "deal/get" ? FORBIDDEN : undefined));
  using client = aClient(server, { maxSessions: 1 });
  for (let times = 0; times < 10; times += 1) {
    await expect(client.getDeal(7n)).rejects.toMatchObject({ problem: "forbidden" });
  }
  expect(server.count("auth/start")).toBe(2);
  expect(server.connections).toHaveLength(1);
  expect(await client.getUser("1")).toBeUndefined();
});

test.concurrent("a forbidden command is unknown and never repeated, and the next caller gets a session that signed in again", async () => {
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path !== "trade/balance" || connection.number > 1 || server.count("auth/start") > 1) return undefined;
    connection.isSignedIn = false;
    return undefined;
  });
  using client = aClient(server, { maxSessions: 1 });
  expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "http_status", code: 403 });
  expect(await client.getUser("1")).toBeUndefined();
  expect(server.paths()).toEqual([
    "auth/start",
    "auth/answer",
    "trade/balance",
    "auth/start",
    "auth/answer",
    "user/get",
  ]);
});

test.concurrent("a read with a malformed answer ends its connection, so no later read receives its real answer", async () => {
  let reads = 0;
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path !== "user/get") return undefined;
    reads += 1;
    if (reads === 1) setTimeout(() => void (connection.isOpen && connection.tls.write(httpAnswer(USER))), 20);
    return reads === 1 ? "<html>one moment</html>" : undefined;
  });
  using client = aClient(server, { maxSessions: 1 });
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "bad_answer" });
  expect(await client.getUser("1")).toBeUndefined();
  expect(server.connections).toHaveLength(2);
});

test.concurrent("a read whose connection breaks is repeated once on another session", async () => {
  let breaks = 1;
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path !== "user/get" || (breaks -= 1) < 0) return undefined;
    connection.raw.resetAndDestroy();
    return "nothing";
  });
  using client = aClient(server);
  expect(await client.getUser("1")).toBeUndefined();
  expect(server.count("user/get")).toBe(2);

  breaks = 100;
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "lost" });
  expect(server.count("user/get")).toBe(4);
});

test.concurrent("a refused manager login is retried with growing pauses, and callers receive the reason", async () => {
  await using server = await startScriptedServer();
  const credentials = { login: MANAGER.login, password: new Secret("wrong") };
  using client = aClient(server, { credentials, limits: { waitMs: 3_000, backoff: { firstMs: 40, lastMs: 4_000 } } });
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "login_refused" });
  await pause(500);
  expect(server.connections.length).toBeLessThanOrEqual(10);
  expect(client.status()).toMatchObject({
    reachable: false,
    sessions: 0,
    lastError: "the platform refuses the manager login (HTTP 403)",
  });
});

test.concurrent("a server that fails its authentication receives no command and no immediate second handshake", async (context) => {
  await using server = await startScriptedServer(({ path }) =>
    path === "auth/answer" ? `{"retcode":"0 Done","cli_rand_answer":"${"0".repeat(32)}"}` : undefined,
  );
  using client = aClient(server, { limits: LONG_PAUSE });
  await expect(sendOnce(client)).rejects.toMatchObject({ problem: "server_authentication_failed" });
  expect(server.paths()).not.toContain("trade/balance");
  await context.expect.poll(() => server.connections[0]?.wasReset).toBe(true);
});

test.concurrent("a server with an unknown certificate receives no request, unless its certificate is pinned", async () => {
  await using server = await startScriptedServer();
  const { cert: ca } = await selfSigned();
  using client = aClient(server, { trust: { ca }, limits: LONG_PAUSE });
  await expect(sendOnce(client)).rejects.toMatchObject({ problem: "untrusted" });
  expect(server.requests).toEqual([]);
  using accepting = aClient(server, { trust: { fingerprint: fingerprintOf(server.ca) } });
  expect(await accepting.getUser("1")).toBeUndefined();
});

test.concurrent("a handshake that takes too long is ended", async (context) => {
  await using server = await startScriptedServer(({ path }) => (path === "auth/answer" ? "nothing" : undefined));
  using client = aClient(server, {
    limits: { ...LONG_PAUSE, handshakeTimeoutMs: 100 },
  });
  await expect(sendOnce(client)).rejects.toMatchObject({ problem: "unreachable" });
  await context.expect.poll(() => server.connections[0]?.wasReset).toBe(true);
});

test.concurrent("a server that accepts the sign-in and closes at once is called again only after a pause", async (context) => {
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path === "auth/answer") setTimeout(() => connection.raw.resetAndDestroy(), 5);
    return undefined;
  });
  using client = aClient(server, { limits: { backoff: { firstMs: 200, lastMs: 60_000 } } });
  await pause(400);
  expect(server.connections.length).toBeLessThanOrEqual(5);
  // After each sign-in the platform counts as reachable for some milliseconds.
  await context.expect.poll(() => client.status().reachable).toBe(false);
});

test.concurrent("when the platform is reachable again, waiting callers are served", async () => {
  let isDown = true;
  await using server = await startScriptedServer(({ path }) =>
    isDown && path === "auth/start" ? { status: 503, body: "" } : undefined,
  );
  using client = aClient(server, { limits: { waitMs: 20_000 } });
  setTimeout(() => (isDown = false), 150);
  expect(await client.getUser("1")).toBeUndefined();
  expect(client.status()).toMatchObject({ reachable: true, lastError: undefined });
});
