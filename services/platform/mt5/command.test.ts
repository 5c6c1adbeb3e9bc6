import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import { httpAnswer, type Reply, type Script, startScriptedServer } from "./testing/scripted-server.ts";
import { aClient, anOrder, APPLIED, sendOnce } from "./testing/test-client.ts";

/** The deal of `sendOnce` as the history shows it. */
const A_DEAL = {
  Deal: "136623",
  Login: "900101",
  Action: "2",
  Time: "1760000000",
  Profit: "100.00",
  Comment: "TEST",
};

/** Replaces the answer of the money command only. */
const onBalance =
  (reply: Reply | Script): Script =>
  (request) => {
    if (request.path !== "trade/balance") return undefined;
    return typeof reply === "function" ? reply(request) : reply;
  };

async function outcomeOf(reply: Reply | Script) {
  await using server = await startScriptedServer(onBalance(reply));
  using client = aClient(server);
  const outcome = await sendOnce(client);
  await pause(20);
  return { outcome, sent: server.count("trade/balance"), server };
}

test("a command is a POST with everything in the query, sent once on a session that is signed in", async () => {
  await using server = await startScriptedServer(onBalance(APPLIED));
  using client = aClient(server);
  expect(await sendOnce(client, { comment: "PD0F7K3M9Q2X1X CRM 1" })).toEqual({ kind: "applied", ticket: 136623n });
  expect(server.paths()).toEqual(["auth/start", "auth/answer", "trade/balance"]);
  expect(server.requests.at(-1)).toMatchObject({
    method: "POST",
    body: "",
    query: { login: "900101", type: "2", balance: "100.00", comment: "PD0F7K3M9Q2X1X CRM 1", check_margin: "1" },
  });
});

test("ambiguous answers are unknown, and the command is not sent again", async () => {
  const cases: readonly [Reply, object][] = [
    ["<html>Service temporarily unavailable</html>", { reason: "unparsable" }],
    ['{"retcode":"9 Operation timeout"}', { reason: "ambiguous_code", code: 9 }],
    [
      { status: 302, head: "Location: /api/trade/balance?elsewhere\r\n", body: "" },
      { reason: "http_status", code: 302 },
    ],
    [
      { status: 502, body: APPLIED },
      { reason: "http_status", code: 502 },
    ],
  ];
  for (const [reply, expected] of cases) {
    const { outcome, sent } = await outcomeOf(reply);
    expect(outcome, JSON.stringify(reply)).toEqual({ kind: "unknown", ...expected });
    expect(sent).toBe(1);
  }
});

test("after a timeout the session is reset, and no later command receives the late answer", async () => {
  await using server = await startScriptedServer(
    onBalance(async ({ connection }) => {
      await pause(400);
      return connection.isOpen ? APPLIED : "nothing";
    }),
  );
  using client = aClient(server, { limits: { commandTimeoutMs: 200 } });
  using session = await client.acquireForCommand();
  const outcome = await session.changeBalance(anOrder());
  expect(outcome).toEqual({ kind: "unknown", reason: "timeout" });
  expect(client.isLive(session.sessionId)).toBe(false);
  expect(await session.changeBalance(anOrder())).toEqual({ kind: "not_sent", reason: "closed" });
  await pause(300);
  await expect.poll(() => server.connections[0]).toMatchObject({ isOpen: false, wasReset: true });
  expect(server.count("trade/balance")).toBe(1);
});

test("bytes without a request end the session, so they are not read as the next command's answer", async () => {
  await using server = await startScriptedServer((request) => {
    if (request.path === "test/access") setTimeout(() => request.connection.tls.write(httpAnswer(APPLIED)), 20);
    return undefined;
  });
  using client = aClient(server, { limits: { pingEveryMs: 10 } });
  const first = await sessionId(client);
  await expect.poll(() => client.isLive(first)).toBe(false);
  await expect.poll(() => server.connections[0]?.wasReset).toBe(true);
});

test("a refusal from a server that sends each answer to the next request is unknown", async () => {
  const refused = '{"retcode":"10019 Not enough money"}';
  let late: string | undefined;
  let commands = 0;
  await using server = await startScriptedServer(({ path, connection }) => {
    if (path === "trade/balance") commands += 1;
    // The second command receives the first one's answer again, and its own answer arrives for the next request.
    if (path === "trade/balance" && commands === 2) late = APPLIED;
    if (path === "test/access" && late !== undefined && connection.number === 1) return late;
    if (path === "deal/get_total") return '{"retcode":"0 Done","answer":{"Total":"0"}}';
    if (path === "deal/get_page") return '{"retcode":"0 Done","answer":[]}';
    return path === "trade/balance" ? refused : undefined;
  });
  using client = aClient(server, { maxSessions: 1, timeZone: "UTC" });
  await client.serverClock();
  expect(await sendOnce(client)).toEqual({ kind: "refused", code: 10019 });
  expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "contradictory", code: 10019 });
  await expect.poll(() => server.connections[0]?.isOpen).toBe(false);
  expect(await sendOnce(client)).toEqual({ kind: "refused", code: 10019 });
});

test("a ticket is accepted for one command; a second command that receives it is unknown", async () => {
  await using server = await startScriptedServer(onBalance(APPLIED));
  using client = aClient(server);
  expect(await sendOnce(client)).toMatchObject({ kind: "applied" });
  expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "contradictory" });
});

test("an ambiguous answer ends the connection, so no later command receives the real answer", async () => {
  let commands = 0;
  await using server = await startScriptedServer(
    onBalance(() => {
      commands += 1;
      return commands === 1 ? "<html>one moment</html>" : APPLIED;
    }),
  );
  using client = aClient(server, { maxSessions: 1 });
  expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "unparsable" });
  await expect.poll(() => server.connections[0]?.wasReset).toBe(true);
});

const dealAnswer = (deal: object): string => JSON.stringify({ retcode: "0 Done", answer: { ...A_DEAL, ...deal } });
const REQUESTED = { kind: "applied", ticket: 136623n };
const ANOTHER = { kind: "unknown", reason: "contradictory" };
const NOT_SHOWN = { kind: "unknown", reason: "not_shown" };
/** What is found under a ticket, and the outcome: while an answer is missing, and of a ticket that is shown to a caller. */
const LOOKS: readonly [string, Reply, missing: object, shown: object][] = [
  ["the requested deal", dealAnswer({}), REQUESTED, REQUESTED],
  ["a deal of another login", dealAnswer({ Login: "900102" }), ANOTHER, ANOTHER],
  ["a deal of another amount", dealAnswer({ Profit: "100.01" }), ANOTHER, ANOTHER],
  ["a deal that is not a balance operation", dealAnswer({ Action: "3" }), ANOTHER, ANOTHER],
  ["no deal yet", '{"retcode":"13 Not found"}', NOT_SHOWN, REQUESTED],
  ["no answer", { status: 502, body: "" }, NOT_SHOWN, REQUESTED],
];

test.each(LOOKS)(
  "while an answer is missing, or a ticket is shown to a caller, it is looked at: %s",
  async (_what, deal, missing, shown) => {
    let commands = 0;
    await using server = await startScriptedServer(({ path }) => {
      if (path === "deal/get") return deal;
      if (path !== "trade/balance") return undefined;
      commands += 1;
      return commands === 2 ? "<html>one moment</html>" : APPLIED;
    });
    {
      using client = aClient(server, { maxSessions: 1, timeZone: "UTC" });
      await client.serverClock();
      expect(await sendOnce(client, { isShownToCaller: true })).toEqual(shown);
      expect(commands).toBe(1);
    }
    using client = aClient(server, { maxSessions: 1, timeZone: "UTC" });
    await client.serverClock();
    expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "unparsable" });
    expect(await sendOnce(client)).toEqual(missing);
  },
);

test("while an answer is missing, a deal that the history contains only after its ticket is waited for", async () => {
  let reads = 0;
  await using server = await startScriptedServer(({ path }) => {
    if (path === "deal/get") {
      reads += 1;
      return reads < 3 ? '{"retcode":"13 Not found"}' : JSON.stringify({ retcode: "0 Done", answer: A_DEAL });
    }
    return path === "trade/balance" ? APPLIED : undefined;
  });
  using client = aClient(server, { maxSessions: 1, timeZone: "UTC", areAnswersMissing: true });
  await client.serverClock();
  expect(await sendOnce(client)).toEqual({ kind: "applied", ticket: 136623n });
});

test("a ticket is unknown while the answer to a command of an earlier process is missing", async () => {
  await using server = await startScriptedServer(onBalance(APPLIED));
  using client = aClient(server, { timeZone: "UTC", areAnswersMissing: true });
  await client.serverClock();
  expect(await sendOnce(client)).toEqual({ kind: "unknown", reason: "not_shown" });
});

test("while an answer is missing, a refusal is accepted only when the history has no deal of the command", async () => {
  const refused = '{"retcode":"10019 Not enough money"}';
  for (const head of ["", "Connection: close\r\n"]) {
    for (const [deals, expected] of [
      [[], { kind: "refused", code: 10019 }],
      [[A_DEAL], { kind: "unknown", reason: "unconfirmed", code: 10019 }],
      [[{ ...A_DEAL, Comment: "another" }], { kind: "refused", code: 10019 }],
    ] as const) {
      await using server = await startScriptedServer(({ path }) => {
        if (path === "trade/balance") return { status: 200, head, body: refused };
        if (path === "deal/get_total") return JSON.stringify({ retcode: "0 Done", answer: { Total: deals.length } });
        if (path === "deal/get_page") return JSON.stringify({ retcode: "0 Done", answer: deals });
        return undefined;
      });
      using client = aClient(server, { maxSessions: 1, timeZone: "UTC", areAnswersMissing: true });
      await client.serverClock();
      expect(await sendOnce(client)).toEqual(expected);
    }
  }
});

test("a connection that ends without an answer leaves the command unknown", async () => {
  for (const end of ["destroy", "reset", "half"] as const) {
    const { outcome, sent } = await outcomeOf(({ connection }) => {
      if (end === "destroy") connection.tls.destroy();
      if (end === "reset") connection.raw.resetAndDestroy();
      if (end === "half") connection.tls.end(httpAnswer(APPLIED).slice(0, -1));
      return "nothing";
    });
    expect(outcome).toEqual({ kind: "unknown", reason: "connection_lost" });
    expect(sent).toBe(1);
  }
});

test("onWritten is called once before the answer, and never when the permit has expired at the last moment and nothing was written", async () => {
  const calls: string[] = [];
  const { promise: isWritten, resolve } = Promise.withResolvers<void>();
  await using server = await startScriptedServer(
    onBalance(async () => {
      await isWritten;
      calls.push("answered");
      return APPLIED;
    }),
  );
  using client = aClient(server);
  const onWritten = () => {
    calls.push("written");
    resolve();
  };
  expect(await sendOnce(client, { onWritten })).toEqual({ kind: "applied", ticket: 136623n });
  expect(calls).toEqual(["written", "answered"]);

  expect(await sendOnce(client, { onWritten, mayWrite: () => false })).toEqual({
    kind: "not_sent",
    reason: "not_permitted",
  });
  expect(calls).toEqual(["written", "answered"]);
  expect(server.count("trade/balance")).toBe(1);
});

test("a command on a connection that the server closed before is not sent", async () => {
  await using server = await startScriptedServer(onBalance(APPLIED));
  using client = aClient(server);
  using session = await client.acquireForCommand();
  server.connections[0]!.tls.end();
  await expect.poll(() => client.isLive(session.sessionId)).toBe(false);
  expect(await session.changeBalance(anOrder())).toEqual({ kind: "not_sent", reason: "closed" });
});

test("amounts and comments that the platform would change throw before a byte is written", async () => {
  await using server = await startScriptedServer(onBalance(APPLIED));
  using client = aClient(server);
  using session = await client.acquireForCommand();
  for (const wrong of [
    { amountMinor: 0n },
    { amountMinor: 1_000_000_000_01n },
    { comment: "x".repeat(32) },
    { comment: "a=b" },
  ]) {
    await expect(session.changeBalance(anOrder(wrong))).rejects.toThrow();
  }
  expect(server.paths()).not.toContain("trade/balance");
});

test("passwords are sent in a body and in no URL", async () => {
  await using server = await startScriptedServer(({ path }) =>
    path === "user/add" ? '{"retcode":"0 Done"}' : undefined,
  );
  using client = aClient(server);
  await client.addUser({
    login: "1",
    group: "g",
    firstName: "A",
    lastName: "B",
    email: "a@b.c",
    leverage: 1,
    comment: "",
    mayTrade: false,
    mainPassword: new Secret("Abcdef1!"),
    investorPassword: new Secret("Ghijkl2?"),
  });
  const request = server.requests.at(-1);
  expect(request).toMatchObject({ method: "POST", path: "user/add", query: {} });
  expect(JSON.parse(request?.body ?? "")).toMatchObject({ Login: "1", PassMain: "Abcdef1!", PassInvestor: "Ghijkl2?" });
});

test("before a correction that takes money the free margin is read, because the platform checks none", async () => {
  const NO_SUCH_STATE = '{"retcode":"13 Not found"}';
  const stateOf = (marginFree: string, login = "900101") =>
    JSON.stringify({ retcode: "0 Done", answer: { Login: login, MarginFree: marginFree } });
  const cases: readonly [Reply, object, sent: number][] = [
    [stateOf("390.00"), { kind: "applied" }, 1],
    [stateOf("389.99"), { kind: "refused", code: 10019 }, 0],
    [stateOf("-1200.00"), { kind: "refused", code: 10019 }, 0],
    // An account without positions has no state.
    [NO_SUCH_STATE, { kind: "applied" }, 1],
    [stateOf("390.00", "900102"), { kind: "not_sent", reason: "margin_unknown" }, 0],
    ['{"retcode":"0 Done","answer":{"Login":"900101"}}', { kind: "not_sent", reason: "margin_unknown" }, 0],
    [{ status: 403, body: "" }, { kind: "not_sent", reason: "margin_unknown" }, 0],
  ];
  for (const [state, outcome, sent] of cases) {
    await using server = await startScriptedServer(({ path }) =>
      path === "user/account/get" ? state : path === "trade/balance" ? APPLIED : undefined,
    );
    using client = aClient(server);
    const order = { amountMinor: -390_00n, checkMargin: true, type: 5 } as const;
    expect(await sendOnce(client, order), JSON.stringify(state)).toMatchObject(outcome);
    expect(server.count("trade/balance")).toBe(sent);
  }
});

test("the free margin is not read for other types, for credits, or without the margin check", async () => {
  const orders = [
    { amountMinor: -1_00n, checkMargin: true, type: 4 },
    { amountMinor: 1_00n, checkMargin: true, type: 5 },
    { amountMinor: -1_00n, checkMargin: false, type: 5 },
  ] as const;
  for (const order of orders) {
    await using server = await startScriptedServer(onBalance(APPLIED));
    using client = aClient(server);
    expect(await sendOnce(client, order)).toMatchObject({ kind: "applied" });
    expect(server.paths()).toEqual(["auth/start", "auth/answer", "trade/balance"]);
    expect(server.requests.at(-1)?.query).toMatchObject({ type: String(order.type) });
  }
});

async function sessionId(client: ReturnType<typeof aClient>): Promise<string> {
  using session = await client.acquireForCommand();
  return session.sessionId;
}
