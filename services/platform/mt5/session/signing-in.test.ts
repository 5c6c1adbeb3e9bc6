import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "#kernel/secret.ts";
import { httpAnswer, MANAGER, type ScriptedServer, startScriptedServer } from "../testing/scripted-server.ts";
import { aClient, sendOnce } from "../testing/test-client.ts";

/** Whoever asks would not wait for the next attempt, and is told at once why the first one failed. */
const LONG_PAUSE = { backoff: { firstMs: 60_000, lastMs: 60_000 } };
const FORBIDDEN = { status: 403, body: "403 Forbidden" };
const USER =
  '{"retcode":"0 Done","answer":{"Login":"1","Group":"g","Rights":"355","Leverage":"100","Balance":"1.00","Credit":"0.00"}}';

const count = (server: ScriptedServer, path: string) => server.paths().filter((seen) => seen === path).length;
test("a read that is forbidden signs in again on the same connection and is asked once more", async () => {
  let refusals = 1;
  await using server = await startScriptedServer(({ path }) => {
    if (path !== "user/get") return undefined;
    return (refusals -= 1) >= 0 ? FORBIDDEN : USER;
  });
  using client = aClient(server);
  expect(await client.getUser("1")).toMatchObject({ login: "1", balanceMinor: 1_00n });
  expect(server.paths()).toEqual(["auth/start", "auth/answer", "user/get", "auth/start", "auth/answer", "user/get"]);
  expect(server.lines).toHaveLength(1);
});

test("a read that stays forbidden is an error, and asking for it again and again does not sign in each time", async () => {
  await using server = await startScriptedServer(({ path }) => (path === "group/get" ? FORBIDDEN : undefined));
  using client = aClient(server, { maxSessions: 1 });
  for (let times = 0; times < 10; times += 1) {
    await expect(client.getGroup("g")).rejects.toMatchObject({ problem: "forbidden" });
  }
  expect(count(server, "auth/start")).toBe(2);
  expect(server.lines).toHaveLength(1);
  expect(await client.getUser("1")).toBeUndefined();
});

test("a command that is forbidden is unknown and never repeated; whoever comes next gets a session that signed in anew", async () => {
  await using server = await startScriptedServer(({ path, line }) => {
    if (path !== "trade/balance" || line.number > 1 || count(server, "auth/start") > 1) return undefined;
    line.isSignedIn = false;
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

test("a read that is answered with something else ends its connection, so that the answer to it meets nobody", async () => {
  let asked = 0;
  await using server = await startScriptedServer(({ path, line }) => {
    if (path !== "user/get") return undefined;
    asked += 1;
    if (asked === 1) setTimeout(() => void (line.isOpen && line.tls.write(httpAnswer(USER))), 20);
    return asked === 1 ? "<html>one moment</html>" : undefined;
  });
  using client = aClient(server, { maxSessions: 1 });
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "bad_answer" });
  expect(await client.getUser("1")).toBeUndefined();
  expect(server.lines).toHaveLength(2);
});

test("a read whose connection breaks is asked once more, on another session, and not a third time", async () => {
  let breaks = 1;
  await using server = await startScriptedServer(({ path, line }) => {
    if (path !== "user/get" || (breaks -= 1) < 0) return undefined;
    line.raw.resetAndDestroy();
    return "nothing";
  });
  using client = aClient(server);
  expect(await client.getUser("1")).toBeUndefined();
  expect(count(server, "user/get")).toBe(2);

  breaks = 100;
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "lost" });
  expect(count(server, "user/get")).toBe(4);
});

test("a manager that is refused is tried again with growing pauses, and whoever asks learns why", async () => {
  await using server = await startScriptedServer();
  const credentials = { login: MANAGER.login, password: new Secret("wrong") };
  using client = aClient(server, { credentials, limits: { waitMs: 1_000, backoff: { firstMs: 40, lastMs: 400 } } });
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "login_refused" });
  await pause(500);
  expect(server.lines.length).toBeLessThanOrEqual(10);
  expect(client.status()).toMatchObject({
    reachable: false,
    sessions: 0,
    lastError: "the platform refuses the manager login (HTTP 403)",
  });
});

test("an impostor gets neither a command nor the next handshake at once", async () => {
  await using server = await startScriptedServer(({ path }) =>
    path === "auth/answer" ? `{"retcode":"0 Done","cli_rand_answer":"${"0".repeat(32)}"}` : undefined,
  );
  using client = aClient(server, { limits: LONG_PAUSE });
  await expect(sendOnce(client)).rejects.toMatchObject({ problem: "server_authentication_failed" });
  expect(server.paths()).not.toContain("trade/balance");
  await expect.poll(() => server.lines[0]?.wasReset).toBe(true);
});

test("a handshake that takes too long is given up", async () => {
  await using server = await startScriptedServer(({ path }) => (path === "auth/answer" ? "nothing" : undefined));
  using client = aClient(server, {
    limits: { ...LONG_PAUSE, handshakeTimeoutMs: 100 },
  });
  await expect(sendOnce(client)).rejects.toMatchObject({ problem: "unreachable" });
  await expect.poll(() => server.lines[0]?.wasReset).toBe(true);
});

test("a server that takes us in and throws us out at once is not called in a hot loop", async () => {
  await using server = await startScriptedServer(({ path, line }) => {
    if (path === "auth/answer") setTimeout(() => line.raw.resetAndDestroy(), 5);
    return undefined;
  });
  using client = aClient(server, { limits: { backoff: { firstMs: 50, lastMs: 1_000 } } });
  await pause(400);
  expect(server.lines.length).toBeLessThanOrEqual(5);
  expect(client.status().reachable).toBe(false);
});

test("when the platform comes back, those who still wait are served", async () => {
  let isDown = true;
  await using server = await startScriptedServer(({ path }) =>
    isDown && path === "auth/start" ? { status: 503, body: "" } : undefined,
  );
  using client = aClient(server, { limits: { waitMs: 5_000 } });
  setTimeout(() => (isDown = false), 150);
  expect(await client.getUser("1")).toBeUndefined();
  expect(client.status()).toMatchObject({ reachable: true, lastError: undefined });
});
