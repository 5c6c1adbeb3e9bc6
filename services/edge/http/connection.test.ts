import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, onTestFinished, test, type TestContext } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { anInvestor } from "../api/samples/account.ts";
import { anEvent } from "../api/samples/edge.ts";
import { aDeposit } from "../api/samples/funding.ts";
import { aStatement, aStatementLine } from "../api/samples/history.ts";
import { aSubscription } from "../api/samples/subscription.ts";
import { cents } from "../api/samples/values.ts";
import { aCaller, TEST_KEY, testEdge, type TestOptions } from "../testing/test-edge.ts";

const AUTHORIZATION = `Authorization: Bearer ${TEST_KEY}`;

/** A concurrent test passes its own context. Those that wait for a time limit run at the same time. */
async function listening(
  options: TestOptions = {},
  lifetime: Pick<TestContext, "onTestFinished"> = { onTestFinished },
) {
  const edge = await testEdge({ app: {}, ...options });
  await edge.app.listen({ port: 0, host: "127.0.0.1" });
  lifetime.onTestFinished(() => edge.app.close());
  const address = edge.app.server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const dial = async (): Promise<Socket> => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    return socket;
  };
  /** Sends the bytes, closes the sending side, and returns everything that is answered. */
  const sendAndClose = async (bytes: string | Buffer): Promise<string> => {
    const socket = await dial();
    socket.end(bytes);
    return await readAll(socket);
  };
  return { edge, dial, sendAndClose };
}

/** Everything that the edge sends until the connection ends, one character for each byte. */
async function readAll(socket: Socket): Promise<string> {
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("end", () => socket.end());
  await once(socket, "close");
  return text;
}

const DEPOSIT = "/api/v1/investor/deposit?login=1&amount=1";
const MASTER = { url: "/api/v1/master/7" };
const LISTED = { url: "/api/v1/info/subscriptions" };

/** So many requests in progress of each kind of route. */
function atOnce(inProgress: number) {
  const each = { rate: { perSecond: 1_000, burst: 1_000 }, inProgress };
  return { limits: { read: each, money: each, create: each } };
}

/** Services that answer when they are released. */
function heldDeposit() {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  return { release, funding: { deposit: () => held.then(() => aDeposit()) } };
}
const STATEMENT = "/api/v1/info/investor/3000003/statement?from=2026-01-01T00:00:00&to=2026-02-01T00:00:00";

const statusOf = (text: string): string => text.split("\r\n")[0] ?? "";
const bodyOf = (text: string): unknown => JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));

test("bytes that are not HTTP are answered with a problem", async () => {
  const { dial } = await listening();
  const socket = await dial();
  socket.write("hello, is this HTTP?\r\n\r\n");
  const text = await readAll(socket);

  expect(statusOf(text)).toBe("HTTP/1.1 400 Bad Request");
  expect(text).toContain("content-type: application/problem+json");
  expect(bodyOf(text)).toMatchObject({
    code: "bad_request",
    status: 400,
    request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test("a URL and headers that are too long are refused with their own codes", async () => {
  const { dial } = await listening();
  const [longUrl, largeHeaders] = [await dial(), await dial()];
  longUrl.write(`GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`);
  largeHeaders.write(`GET / HTTP/1.1\r\nHost: a\r\nX-Junk: ${"x".repeat(40_000)}\r\n\r\n`);
  const answers = await Promise.all([readAll(longUrl), readAll(largeHeaders)]);

  expect(answers.map(statusOf)).toEqual(["HTTP/1.1 414 URI Too Long", "HTTP/1.1 431 Request Header Fields Too Large"]);
  expect(answers.map((text) => (bodyOf(text) as { code: string }).code)).toEqual(["url_too_long", "headers_too_large"]);
});

test("a chunked body is refused beyond 64 KiB", async () => {
  const { dial } = await listening();
  const socket = await dial();
  const head = ["POST /api/v1/investor/add HTTP/1.1", "Host: a", AUTHORIZATION, "Content-Type: application/json"];
  socket.write(`${head.join("\r\n")}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  for (let each = 0; each < 80; each += 1) socket.write(`400\r\n${" ".repeat(1_024)}\r\n`);

  expect(statusOf(await readAll(socket))).toBe("HTTP/1.1 413 Payload Too Large");
});

const SLOW = [
  ["headers", "GET /healthz HTTP/1.1\r\nHost: a\r\n", "X-Slow: 1\r\n"],
  [
    "a body",
    `POST /api/v1/investor/add HTTP/1.1\r\nHost: a\r\n${AUTHORIZATION}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    " ",
  ],
] as const;

test.concurrent.for(SLOW)(
  "a client cannot hold a connection by sending %s slowly",
  async ([, begin, more], context) => {
    const { dial } = await listening({}, context);
    const socket = await dial();
    socket.write(begin);
    const slowWriter = setInterval(() => socket.writable && socket.write(more), 500);
    const begunAt = Date.now();
    const text = await readAll(socket);
    clearInterval(slowWriter);

    expect(statusOf(text)).toBe("HTTP/1.1 408 Request Timeout");
    expect(bodyOf(text)).toMatchObject({ code: "request_timeout", retryable: true });
    expect(text).toContain("\r\nretry-after: 1\r\n");
    expect(Date.now() - begunAt).toBeLessThan(30_000);
  },
);

test.concurrent("a query to a service that does not answer is refused at the time limit", async (context) => {
  const { edge } = await listening({ accounts: { getMaster: () => new Promise<never>(() => {}) } }, context);
  const begunAt = Date.now();
  const answer = await edge.call(MASTER);

  expect([answer.status, answer.body]).toMatchObject([503, { code: "service_unavailable", retryable: true }]);
  expect(Date.now() - begunAt).toBeLessThan(30_000);
});

test.concurrent("a command to a service that does not answer gets an unknown outcome at the time limit", async (context) => {
  const { edge } = await listening({ funding: { deposit: () => new Promise<never>(() => {}) } }, context);
  const begunAt = Date.now();
  const answer = await edge.call({ method: "POST", url: DEPOSIT });

  expect([answer.status, answer.body]).toMatchObject([
    504,
    { code: "outcome_unknown", outcome: "unknown", operation_id: answer.headers["x-operation-id"] },
  ]);
  expect(Date.now() - begunAt).toBeLessThan(30_000);
});

test("a route class whose limit of requests in progress is reached does not block the others", async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const { edge } = await listening({
    accounts: { getMaster: () => held.then(() => Promise.reject(new Error("done"))) },
    funding: { deposit: async () => aDeposit() },
    app: atOnce(1),
  });
  const first = edge.call(MASTER);
  const [second, deposit] = [await edge.call(MASTER), await edge.call({ method: "POST", url: DEPOSIT })];
  resolve();
  await first;

  expect([second.status, second.headers["retry-after"], second.body]).toMatchObject([
    503,
    "1",
    { code: "service_unavailable", retryable: true },
  ]);
  expect(second.body, "a query").not.toHaveProperty("outcome");
  expect(deposit.status).toBe(200);
  expect((await edge.call(MASTER)).status, "the slot is free again").toBe(500);
});

test("a client has at most three quarters of the requests in progress, so that one of them does not keep the others out", async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const { edge } = await listening({
    accounts: { getMaster: () => held.then(() => Promise.reject(new Error("done"))) },
    app: {
      ...atOnce(4),
      authenticate: async (key) => ({ ...aCaller(), clientId: key }),
    },
  });
  const get = (key: string) => edge.call({ url: "/api/v1/master/7", headers: { authorization: `Bearer ${key}` } });
  const ofAnna = [get("anna"), get("anna"), get("anna")];
  await waitFor(() => expect(edge.calls).toHaveLength(3));
  const refused = await get("anna");
  const ofBoris = get("boris");
  await waitFor(() => expect(edge.calls).toHaveLength(4));
  expect((await get("carla")).status, "all are in use").toBe(503);
  resolve();

  expect([refused.status, refused.headers["retry-after"], refused.body]).toMatchObject([
    429,
    "1",
    {
      code: "rate_limited",
      retryable: true,
      detail: expect.stringMatching(/of this kind in progress .* This request was not executed/),
    },
  ]);
  await Promise.all([...ofAnna, ofBoris]);
  expect((await get("anna")).status, "the slots are free again").toBe(500);
});

/** Status line, headers and body of each answer; a body is as long as its length or its chunks say. */
function answersOf(text: string): { status: string; body: string }[] {
  const answers = [];
  for (let rest = text; rest !== "";) {
    const headEnd = rest.indexOf("\r\n\r\n") + 4;
    const head = rest.slice(0, headEnd);
    rest = rest.slice(headEnd);
    let body = "";
    const [, length] = /content-length: (\d+)/i.exec(head) ?? [];
    if (/transfer-encoding: chunked/i.test(head)) {
      for (let size = -1; size !== 0;) {
        const lineEnd = rest.indexOf("\r\n");
        size = parseInt(rest.slice(0, lineEnd), 16);
        expect(size, "the answer is cut off").not.toBeNaN();
        body += rest.slice(lineEnd + 2, lineEnd + 2 + size);
        rest = rest.slice(lineEnd + 2 + size + 2);
      }
    } else if (length !== undefined) {
      body = rest.slice(0, Number(length));
      rest = rest.slice(Number(length));
    }
    answers.push({ status: statusOf(head), body });
  }
  return answers;
}

const head = (method: string, url: string, ...headers: string[]): string =>
  [`${method} ${url} HTTP/1.1`, "Host: a", AUTHORIZATION, ...headers, "", ""].join("\r\n");

test("a client that closes its sending side after the request gets its whole answer", async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const many = Array.from({ length: 3_000 }, (_, each) => aSubscription({ id: BigInt(each) }));
  const lines = Array.from({ length: 500 }, (_, each) => aStatementLine(BigInt(each), 1n, 1n));
  let [reads, polls] = [0, 0];
  const { edge, sendAndClose } = await listening({
    accounts: { addInvestor: () => held.then(() => anInvestor()), findInvestor: async () => anInvestor() },
    funding: { deposit: () => held.then(() => aDeposit()) },
    subscriptions: { listSubscriptions: async () => ({ items: many, hasMore: (reads += 1) % 3 !== 0 }) },
    events: {
      read: async () => ({
        events: (polls += 1) < 3 ? [] : Array.from({ length: 1_000 }, () => anEvent()),
        removedThrough: 0n,
        through: 1_024n,
        issuedThrough: 1_024n,
        hasMore: false,
      }),
    },
    platform: {
      async readStatement({ after }) {
        const number = (after?.number ?? 0n) + 1n;
        return aStatement({ closing: { number, balance: cents(1n) }, lines, hasMore: number < 5n });
      },
    },
  });
  const json = '{"mt5_login":"3000003","name":"Ada"}';
  const answers = Promise.all([
    sendAndClose(head("POST", DEPOSIT, "Content-Length: 0")),
    sendAndClose(
      head("POST", "/api/v1/investor/add", "Content-Type: application/json", `Content-Length: ${json.length}`) + json,
    ),
    sendAndClose(head("POST", DEPOSIT, "Transfer-Encoding: chunked") + "0\r\n\r\n"),
    sendAndClose(head("GET", "/api/v1/info/subscriptions")),
    sendAndClose(head("GET", "/api/v1/events?wait=30")),
    sendAndClose(head("GET", `${STATEMENT}&format=csv`)),
    sendAndClose(`POST ${DEPOSIT} HTTP/1.0\r\n${AUTHORIZATION}\r\nContent-Length: 0\r\n\r\n`),
    sendAndClose(head("GET", "/healthz")),
    sendAndClose(head("GET", "/api/v1/unknown")),
    sendAndClose(head("POST", DEPOSIT, "Content-Length: 0") + head("GET", "/api/v1/master/x")),
  ]);
  // The commands take longer than it takes the edge to see that the client has closed.
  await waitFor(() => expect(edge.calls.filter(({ method }) => /deposit|addInvestor/.test(method))).toHaveLength(5));
  await new Promise((done) => setTimeout(done, 100));
  resolve();
  const [deposit, added, chunked, list, events, csv, old, health, unknown, both] = (await answers).map(answersOf);

  for (const answer of [deposit, chunked]) expect(answer).toMatchObject([{ status: "HTTP/1.1 200 OK" }]);
  expect(JSON.parse(deposit![0]!.body)).toMatchObject({ status: "success" });
  expect(JSON.parse(added![0]!.body)).toMatchObject({ mt5_login: expect.any(String) as string });
  expect(JSON.parse(list![0]!.body)).toHaveLength(9_000);
  const { items } = JSON.parse(events![0]!.body) as { items: unknown[] };
  expect([items.length, events![0]!.body.length]).toEqual([1_000, expect.toSatisfy((bytes) => bytes > 200_000)]);
  expect(csv![0]!.body.split("\r\n")).toHaveLength(1 + 1 + 5 * 500 + 1 + 1);
  expect(csv![0]!.body).toContain("closing_balance");
  expect(old![0]!.status).toBe("HTTP/1.1 200 OK");
  expect(health).toMatchObject([{ status: "HTTP/1.1 200 OK" }]);
  expect(unknown).toMatchObject([{ status: "HTTP/1.1 404 Not Found" }]);
  expect(both!.map(({ status }) => status)).toEqual(["HTTP/1.1 200 OK", "HTTP/1.1 422 Unprocessable Entity"]);
  expect(edge.audited.map(({ status }) => status)).not.toContain(499);
});

test.each([
  ["a part of a request and its end", "GET /healthz HT", true],
  [
    "a part of a body and its end",
    head("POST", "/api/v1/investor/add", "Content-Type: application/json", "Content-Length: 9") + "{",
    true,
  ],
  ["no request", "hello\r\n\r\n", false],
])("a command is answered before the problem of what follows it: %s", async (_what, rest, closes) => {
  const { funding, release } = heldDeposit();
  const { edge, dial } = await listening({ funding });
  const socket = await dial();
  const all = readAll(socket);
  socket.write(head("POST", DEPOSIT, "Content-Length: 0") + rest);
  if (closes) socket.end();
  await waitFor(() => expect(edge.calls).toHaveLength(1));
  // Also when more of it comes.
  if (!closes) socket.write("more\r\n\r\n");
  await new Promise((done) => setTimeout(done, 50));
  release();

  expect(answersOf(await all)).toMatchObject([
    { status: "HTTP/1.1 200 OK", body: expect.stringContaining('"success"') as string },
    { status: "HTTP/1.1 400 Bad Request", body: expect.stringContaining('"bad_request"') as string },
  ]);
  expect(edge.audited[0]).toMatchObject({ route: "/api/v1/investor/deposit", status: 200 });
});

test("a request whose body is cut off by the end of the sending side is refused, and not executed", async () => {
  const { edge, sendAndClose } = await listening();
  const torn = head("POST", DEPOSIT, "Content-Type: application/json", "Content-Length: 24") + '{"external_id":"dep';
  const chunked = head("POST", DEPOSIT, "Content-Type: application/json", "Transfer-Encoding: chunked") + '8\r\n{"a":';

  for (const bytes of [torn, chunked]) {
    expect(answersOf(await sendAndClose(bytes))).toMatchObject([
      { status: "HTTP/1.1 400 Bad Request", body: expect.stringContaining('"bad_request"') as string },
    ]);
  }
  expect(edge.calls).toEqual([]);
});

test("an expectation that is not known is refused with a problem; 100-continue works, and HTTP/1.0 has none", async () => {
  const { edge, sendAndClose } = await listening({ funding: { deposit: async () => aDeposit() } });
  const deposit = (...headers: string[]) => sendAndClose(head("POST", DEPOSIT, "Content-Length: 0", ...headers));

  for (const value of ["fly-me-to-the-moon", "100-continue, something", "200-ok=1"]) {
    const text = (await deposit(`Expect: ${value}`)).replace("HTTP/1.1 100 Continue\r\n\r\n", "");
    expect(statusOf(text)).toBe("HTTP/1.1 417 Expectation Failed");
    expect(text).toMatch(/content-type: application\/problem\+json; charset=utf-8\r\n/i);
    expect(text).toMatch(/connection: close\r\n/i);
    expect(text).not.toMatch(/x-operation-id/i);
    const [requestId] = /[0-9a-f-]{36}/.exec(text) ?? [];
    expect(bodyOf(text)).toMatchObject({
      type: "/docs/problems/expectation_failed",
      code: "expectation_failed",
      status: 417,
      request_id: requestId,
      instance: "/api/v1/investor/deposit",
      outcome: "not_executed",
    });
  }
  expect(edge.calls).toEqual([]);
  const unknown = await sendAndClose(head("GET", "/api/v1/unknown", "Expect: something"));
  expect(bodyOf(unknown)).toMatchObject({ status: 417 });

  for (const value of ["100-continue", "100-Continue"]) {
    expect((await deposit(`Expect: ${value}`)).split("\r\n\r\n", 2).map(statusOf)).toEqual([
      "HTTP/1.1 100 Continue",
      "HTTP/1.1 200 OK",
    ]);
  }
  expect(statusOf(await deposit("Expect: "))).toBe("HTTP/1.1 200 OK");
  for (const value of ["something", "100-continue"]) {
    const old = `POST ${DEPOSIT} HTTP/1.0\r\n${AUTHORIZATION}\r\nExpect: ${value}\r\nContent-Length: 0\r\n\r\n`;
    expect(statusOf(await sendAndClose(old))).toBe("HTTP/1.1 200 OK");
  }
});

test("two Idempotency-Keys are refused as two", async () => {
  const { edge, sendAndClose } = await listening();
  const answer = await sendAndClose(
    head("POST", DEPOSIT, "Content-Length: 0", "Idempotency-Key: a", "Idempotency-Key: b"),
  );

  expect(bodyOf(answer)).toMatchObject({
    status: 422,
    detail: expect.stringContaining("must be given once") as string,
  });
  expect(edge.calls).toEqual([]);
});

test("a request without a host gets a problem, also after another one; HTTP/1.0 needs none", async () => {
  const { edge, sendAndClose } = await listening({ funding: { deposit: async () => aDeposit() } });
  const without = (version: string) =>
    `POST ${DEPOSIT} HTTP/${version}\r\n${AUTHORIZATION}\r\nContent-Length: 0\r\n\r\n`;
  const problem = {
    status: "HTTP/1.1 400 Bad Request",
    body: expect.stringContaining("The header Host is missing.") as string,
  };

  expect(answersOf(await sendAndClose(without("1.1")))).toMatchObject([problem]);
  expect(edge.calls).toEqual([]);
  const both = answersOf(await sendAndClose(head("GET", "/healthz") + without("1.1")));
  expect(both).toMatchObject([{ status: "HTTP/1.1 200 OK" }, problem]);
  expect(answersOf(await sendAndClose(without("1.0")))).toMatchObject([{ status: "HTTP/1.1 200 OK" }]);
});

test("a caller that closes its connection gets what it has asked for, which is audited as it is", async () => {
  const { funding, release } = heldDeposit();
  const { edge, dial } = await listening({ funding });
  const socket = await dial();
  socket.write(head("POST", DEPOSIT, "Content-Length: 0"));
  await waitFor(() => expect(edge.calls).toHaveLength(1));
  socket.destroy();
  release();
  await waitFor(() => expect(edge.audited).toHaveLength(1));

  expect(edge.audited).toMatchObject([{ route: "/api/v1/investor/deposit", status: 200 }]);
});

test("a caller that disconnects is audited, and its slot is freed when the command ends", async () => {
  const { funding, release } = heldDeposit();
  const { edge, dial } = await listening({
    funding,
    app: atOnce(1),
  });
  const socket = await dial();
  socket.write(`POST ${DEPOSIT} HTTP/1.1\r\nHost: a\r\n${AUTHORIZATION}\r\nContent-Length: 0\r\n\r\n`);
  await waitFor(() => expect(edge.calls).toHaveLength(1));
  socket.resetAndDestroy();
  await waitFor(() => expect(edge.audited).toHaveLength(1));

  expect(edge.audited).toMatchObject([{ route: "/api/v1/investor/deposit", status: 499, decision: "allowed" }]);
  expect((await edge.call({ method: "POST", url: DEPOSIT })).status, "the command is still in progress").toBe(503);
  release();
  await new Promise(setImmediate);
  expect((await edge.call({ method: "POST", url: DEPOSIT })).status).toBe(200);
});

test("a caller that disconnects in the middle of a list frees its slot", async () => {
  const page = {
    items: Array.from({ length: 1_000 }, (_, each) => aSubscription({ id: BigInt(each) })),
    hasMore: true,
  };
  let isEndless = true;
  const { edge, dial } = await listening({
    subscriptions: { listSubscriptions: async () => (isEndless ? page : { items: [], hasMore: false }) },
    app: atOnce(1),
  });
  const socket = await dial();
  socket.write(`GET /api/v1/info/subscriptions HTTP/1.1\r\nHost: a\r\n${AUTHORIZATION}\r\n\r\n`);
  await once(socket, "data");
  expect((await edge.call(LISTED)).status).toBe(503);
  socket.resetAndDestroy();
  isEndless = false;
  await waitFor(async () => expect((await edge.call(LISTED)).status).toBe(200));
});

test("a caller that disconnects before a list begins frees its slot", async () => {
  const { promise: held, resolve } = Promise.withResolvers<void>();
  const { edge, dial } = await listening({
    subscriptions: { listSubscriptions: () => held.then(() => ({ items: [aSubscription()], hasMore: false })) },
    app: atOnce(1),
  });
  const socket = await dial();
  socket.write(`GET /api/v1/info/subscriptions HTTP/1.1\r\nHost: a\r\n${AUTHORIZATION}\r\n\r\n`);
  await waitFor(() => expect(edge.calls).toHaveLength(1));
  socket.resetAndDestroy();
  await new Promise((done) => setTimeout(done, 50));
  resolve();
  await waitFor(async () => expect((await edge.call(LISTED)).status).toBe(200));
});
