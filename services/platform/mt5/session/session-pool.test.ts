import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { startScriptedServer } from "../testing/scripted-server.ts";
import { aClient, anOrder, APPLIED, sendOnce, USER } from "../testing/test-client.ts";

test.concurrent("one session is open from the start, others are opened on demand up to the limit and kept", async (context) => {
  await using server = await startScriptedServer();
  using client = aClient(server, { maxSessions: 3 });
  await context.expect.poll(() => server.count("auth/answer")).toBeGreaterThan(0);
  await context.expect.poll(() => client.status().sessions).toBe(1);

  const leases = await Promise.all([1, 2, 3].map(() => client.acquireForCommand()));
  expect(new Set(leases.map(({ sessionId }) => sessionId)).size).toBe(3);
  const late = client.acquireForCommand({ waitMs: 30 });
  await expect(late).rejects.toMatchObject({ problem: "busy" });
  for (const lease of leases) lease[Symbol.dispose]();
  await pause(30);
  expect(client.status()).toMatchObject({ reachable: true, sessions: 3, waiting: 0 });
  expect(server.connections).toHaveLength(3);
});

test.concurrent("missing sessions are opened at the same time", async (context) => {
  let openings = 0;
  await using server = await startScriptedServer(async ({ path, connection }) => {
    if (path !== "auth/start" || connection.number === 1) return undefined;
    openings += 1;
    await context.expect.poll(() => openings).toBe(2);
    return undefined;
  });
  using client = aClient(server, { maxSessions: 3 });
  await context.expect.poll(() => client.status().sessions).toBe(1);

  const leases = await Promise.all([1, 2, 3].map(() => client.acquireForCommand()));
  expect(new Set(leases.map(({ sessionId }) => sessionId)).size).toBe(3);
  for (const lease of leases) lease[Symbol.dispose]();
});

test.concurrent("each session carries one request at a time", async () => {
  let inProgress = 0;
  let maxInProgress = 0;
  const perConnection = new Map<number, number>();
  await using server = await startScriptedServer(async ({ path, connection }) => {
    if (path !== "user/get") return undefined;
    perConnection.set(connection.number, (perConnection.get(connection.number) ?? 0) + 1);
    maxInProgress = Math.max(maxInProgress, (inProgress += 1));
    expect(perConnection.get(connection.number)).toBe(1);
    await pause(5);
    inProgress -= 1;
    perConnection.set(connection.number, 0);
    return USER;
  });
  using client = aClient(server, { maxSessions: 3 });
  await Promise.all(Array.from({ length: 40 }, () => client.getUser("1")));
  expect(maxInProgress).toBe(3);
  expect(server.connections).toHaveLength(3);
});

test.concurrent("idle sessions are pinged, and one without an answer is ended", async (context) => {
  let isSilent = false;
  await using server = await startScriptedServer(({ path }) =>
    isSilent && path === "test/access" ? "nothing" : undefined,
  );
  using client = aClient(server, { limits: { pingEveryMs: 20, commandTimeoutMs: 3_000 } });
  await context.expect.poll(() => server.count("test/access")).toBeGreaterThan(3);
  expect(server.connections).toHaveLength(1);
  expect(client.status().reachable).toBe(true);
  isSilent = true;
  await context.expect.poll(() => server.connections.length).toBeGreaterThan(1);
  await context.expect.poll(() => server.connections[0]?.wasReset).toBe(true);
});

test.concurrent("a half-open connection is detected by a ping, and the command is sent on another session", async () => {
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path === "test/access" && connection.number === 1) return "nothing";
    return path === "trade/balance" ? APPLIED : undefined;
  });
  using client = aClient(server, { limits: { proveAliveAfterMs: 0, commandTimeoutMs: 400 } });
  expect(await sendOnce(client)).toEqual({ kind: "applied", ticket: 136623n });
  expect(
    server.requests.filter(({ path }) => path === "trade/balance").map(({ connection }) => connection.number),
  ).toEqual([2]);
});

test.concurrent("after an answer with connection close the session is replaced", async () => {
  await using server = await startScriptedServer(({ path }) =>
    path === "user/get" ? { status: 200, head: "Connection: close\r\n", body: USER } : undefined,
  );
  using client = aClient(server, { maxSessions: 1 });
  expect(await client.getUser("1")).toMatchObject({ login: "1" });
  expect(await client.getUser("1")).toMatchObject({ login: "1" });
  expect(server.connections).toHaveLength(2);
});

test.concurrent("cookies stay within their session", async () => {
  await using server = await startScriptedServer(({ path, connection }) =>
    path === "test/access"
      ? { status: 200, head: `Set-Cookie: sid=${connection.number}; Path=/\r\n`, body: '{"retcode":"0 Done"}' }
      : undefined,
  );
  using client = aClient(server, { maxSessions: 2, limits: { proveAliveAfterMs: 0 } });
  const leases = await Promise.all([client.acquireForCommand(), client.acquireForCommand()]);
  for (const lease of leases) lease[Symbol.dispose]();
  await Promise.all([client.getUser("1"), client.getUser("2")]);
  const sent = server.requests
    .filter(({ path }) => path === "user/get")
    .map(({ headers, connection }) => [headers.get("cookie"), connection.number]);
  for (const [cookie, number] of sent) expect(cookie).toBe(`sid=${number}`);
  expect(sent).toHaveLength(2);
});

test.concurrent("resetting all ends every session at once, also those in use, and new ones are opened", async (context) => {
  await using server = await startScriptedServer(({ path }) => (path === "trade/balance" ? "nothing" : undefined));
  using client = aClient(server);
  using session = await client.acquireForCommand();
  const sending = session.changeBalance(anOrder());
  await context.expect.poll(() => server.count("trade/balance")).toBe(1);
  client.resetAll();
  expect(client.isLive(session.sessionId)).toBe(false);
  expect(await sending).toEqual({ kind: "unknown", reason: "connection_lost" });
  await context.expect.poll(() => server.connections[0]?.wasReset).toBe(true);
  expect(await client.getUser("1")).toBeUndefined();
});

test.concurrent("a closed pool opens no session", async (context) => {
  await using server = await startScriptedServer();
  const client = aClient(server);
  expect(await client.getUser("1")).toBeUndefined();
  client[Symbol.dispose]();
  await expect(client.getUser("1")).rejects.toMatchObject({ problem: "closed" });
  await context.expect.poll(() => server.connections[0]?.isOpen).toBe(false);
  await pause(60);
  expect(server.connections).toHaveLength(1);
});

test.concurrent("a session returned with an outstanding answer is not leased again", async () => {
  await using server = await startScriptedServer(({ path }) => (path === "trade/balance" ? "nothing" : undefined));
  using client = aClient(server, { maxSessions: 1 });
  const session = await client.acquireForCommand();
  const sending = session.changeBalance(anOrder());
  session[Symbol.dispose]();
  expect(await sending).toEqual({ kind: "unknown", reason: "connection_lost" });
  expect(await client.getUser("1")).toBeUndefined();
  expect(server.connections).toHaveLength(2);
});
