import { createHash } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import { expect, onTestFinished, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { Refusal, type RefusalFacts } from "#kernel/values/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import type { ClassLimits } from "../admission.ts";
import { type Answer, errorsOf, logTo, testEdge, type TestEdge, type TestOptions } from "../../testing/test-edge.ts";
import { aDeposit, aWithdrawal } from "../../api/samples/funding.ts";
import { createIdempotencyStore } from "./idempotency-store.ts";

const DEPOSIT = "/api/v1/investor/deposit?login=3000003&amount=10";
type Deposit = (commandId: string) => Promise<ReturnType<typeof aDeposit>>;

/** An edge with its own database; `deposit` replaces the deposit command of the funding service. */
async function edgeWith(deposit: Deposit) {
  const { pool } = await testDatabase("edge");
  const clock = { at: new Date() };
  const idempotency = createIdempotencyStore(pool, { now: () => clock.at, log: logTo([]), keptMs: 30 * DAY_MS });
  const edge = await testEdge({
    funding: {
      deposit: async (_request, { commandId }) => ({ ...(await deposit(commandId)), operationId: commandId }),
    },
    app: { idempotency },
  });
  return { edge, pool, clock };
}

function send(edge: TestEdge, key: string, url = DEPOSIT): Promise<Answer> {
  return edge.call({ method: "POST", url, headers: { "idempotency-key": key } });
}

/** Command ids in the order in which the funding service received them. */
const commandsOf = ({ calls }: TestEdge) => calls.map(({ context }) => context.commandId);
const headerOf = ({ headers }: Answer) => [headers["x-operation-id"], headers["idempotency-replayed"]];

function refusalOf(code: string, facts: Omit<RefusalFacts, "code" | "message">): Refusal {
  return new Refusal({ code, message: code, ...facts });
}

const UNKNOWN_OUTCOME = refusalOf("outcome_unknown", {
  status: "unknown_outcome",
  outcome: "unknown",
  operationId: uuidv7(),
});
const UNAVAILABLE = refusalOf("service_unavailable", { status: "unavailable", outcome: "not_executed" });
const INSUFFICIENT_FUNDS = refusalOf("insufficient_funds", { status: "conflict", outcome: "not_executed" });

/** A store whose statements are counted. */
async function countingStore() {
  const { pool } = await testDatabase("edge");
  const statements: string[] = [];
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<unknown>;
  const counted = Object.assign(Object.create(pool) as typeof pool, {
    query(statement: { readonly text: string }) {
      statements.push(statement.text.trim().split(/\s+/, 1)[0] ?? "");
      return query(statement);
    },
  });
  const store = createIdempotencyStore(counted, { now: () => new Date(), log: logTo([]), keptMs: 30 * DAY_MS });
  const claimOf = (key: string, parameters = "one") => ({
    clientId: "KeyOfTests01",
    key,
    fingerprint: createHash("sha256").update(parameters).digest(),
    commandId: uuidv7(),
    busyUntil: new Date(Date.now() + 10_000),
  });
  return { pool, store, statements, claimOf };
}

test("a key with which a service knows another request is as before that request: the right one is answered", async () => {
  const reused = refusalOf("idempotency_key_reused", { status: "invalid", outcome: "unknown", operationId: uuidv7() });
  const answers = [() => Promise.reject(reused), async () => aDeposit()];
  const { edge } = await edgeWith(() => answers.shift()!());

  expect((await send(edge, "key-1", `${DEPOSIT}1`)).body).toMatchObject({ code: "idempotency_key_reused" });
  expect((await send(edge, "key-1")).status).toBe(200);
});

test("the services get the client, a hash of the key, and since when keys are kept", async () => {
  const { edge } = await edgeWith(async () => aDeposit());
  await send(edge, "key-1");
  const { request } = edge.calls[0] ?? {};
  const { keptSince } = (request as { idempotencyKey: { keptSince: Date } }).idempotencyKey;

  const hash = createHash("sha256").update("key-1").digest();
  expect(request).toMatchObject({ idempotencyKey: { clientId: "KeyOfTests01", hash } });
  expect(Math.abs(keptSince.getTime() - (Date.now() - 30 * DAY_MS))).toBeLessThan(60_000);
});

test("answer and audit of an operation that the service has found under its key have the id of that operation", async () => {
  const operationId = uuidv7();
  const { call, audited } = await testEdge({
    funding: { deposit: async () => aDeposit({ operationId }), withdraw: async () => aWithdrawal({ operationId }) },
  });

  for (const url of [DEPOSIT, DEPOSIT.replace("deposit", "withdraw")]) {
    expect(headerOf(await call({ method: "POST", url }))).toEqual([operationId, "true"]);
  }
  expect(audited.map((entry) => entry.operationId)).toEqual([operationId, operationId]);
});

test("keys that arrive at the same time are one statement, and one that is in use is refused alone", async () => {
  const { pool, store, statements, claimOf } = await countingStore();
  await store.claim(claimOf("used", "other"));
  statements.length = 0;
  const requests = ["key-1", "used", "key-2", "key-3"].map((key) => claimOf(key));
  const claims = await Promise.allSettled(requests.map((request) => store.claim(request)));

  const isNew = { isRepeated: false, wasDone: false };
  expect(claims.map((claim) => (claim.status === "fulfilled" ? claim.value : claim.reason.code))).toEqual([
    { commandId: requests[0]?.commandId, ...isNew },
    "idempotency_key_reused",
    { commandId: requests[2]?.commandId, ...isNew },
    { commandId: requests[3]?.commandId, ...isNew },
  ]);
  expect(statements).toEqual(["insert", "select"]);

  statements.length = 0;
  const done = claims.flatMap((claim) => (claim.status === "fulfilled" ? [claim.value] : []));
  await Promise.all(done.map((claim) => store.execute(claim, async () => "result")));
  expect(statements).toEqual(["update"]);
  expect(await many(pool, sql`select key, status from idempotency_key where status = 'DONE' order by key`)).toEqual(
    ["key-1", "key-2", "key-3"].map((key) => ({ key, status: "DONE" })),
  );
});

test("a key that the database refuses fails alone", async () => {
  const { store, claimOf } = await countingStore();
  const claims = await Promise.allSettled(
    [claimOf("key-1"), claimOf("not\u00e4scii"), claimOf("key-2")].map(store.claim),
  );

  expect(claims.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("without an Idempotency-Key nothing is recorded and every request is a new command", async () => {
  const { edge, pool } = await edgeWith(async () => aDeposit());
  await edge.call({ method: "POST", url: DEPOSIT });
  await edge.call({ method: "POST", url: DEPOSIT });

  expect(new Set(commandsOf(edge)).size).toBe(2);
  expect(await many(pool, sql`select from idempotency_key`)).toEqual([]);
});

test("a key that is sent with another request is refused with the operation that has it, and nothing is said of its outcome", async () => {
  const { edge } = await edgeWith(async () => aDeposit());
  await send(edge, "key-1");

  expect(await send(edge, "key-1", `${DEPOSIT}&comment=CRM-1`)).toMatchObject({
    status: 422,
    body: {
      code: "idempotency_key_reused",
      outcome: "unknown",
      operation_id: commandsOf(edge)[0],
      retryable: false,
      detail: expect.stringMatching(
        /may have been\. Repeat that one unchanged before you send anything under another key; /,
      ),
    },
  });
  expect(commandsOf(edge)).toHaveLength(1);
});

test("of two simultaneous requests with one key one is executed, and the other is refused with its operation id", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { edge } = await edgeWith(async () => {
    await promise;
    return aDeposit();
  });
  const both = [send(edge, "key-1"), send(edge, "key-1")];
  const second = await Promise.race(both);
  resolve();
  const statuses = (await Promise.all(both)).map(({ status }) => status).toSorted();

  expect(statuses).toEqual([200, 409]);
  expect(second.body).toMatchObject({
    code: "operation_in_progress",
    outcome: "unknown",
    operation_id: commandsOf(edge)[0],
  });
  expect(second.headers["retry-after"]).toBe("1");
  expect(commandsOf(edge)).toHaveLength(1);
});

test("while the outcome is unknown the key is in progress, and a later request repeats the same command", async () => {
  const answers = [
    () => Promise.reject(UNKNOWN_OUTCOME),
    () => Promise.reject(UNKNOWN_OUTCOME),
    () => Promise.reject(UNAVAILABLE),
    async () => aDeposit(),
  ];
  const { edge } = await edgeWith(() => answers.shift()!());

  expect((await send(edge, "key-1")).status).toBe(504);
  for (let times = 0; times < 2; times += 1) {
    const { status, headers, body } = await send(edge, "key-1");
    expect([status, headers["idempotency-replayed"]]).toEqual([409, undefined]);
    expect(body).toMatchObject({
      code: "operation_in_progress",
      outcome: "unknown",
      operation_id: commandsOf(edge)[0],
    });
  }
  const answered = await send(edge, "key-1");
  expect([answered.status, answered.headers["idempotency-replayed"]]).toEqual([200, "true"]);
  expect(new Set(commandsOf(edge)).size).toBe(1);
});

test("a request that was refused without effect is retried as a new command", async () => {
  const answers = [() => Promise.reject(INSUFFICIENT_FUNDS), () => Promise.reject(UNAVAILABLE), async () => aDeposit()];
  const { edge } = await edgeWith(() => answers.shift()!());

  expect((await send(edge, "key-1")).body).toMatchObject({ code: "insufficient_funds" });
  expect((await send(edge, "key-1")).status).toBe(503);
  const third = await send(edge, "key-1");
  expect([third.status, third.headers["idempotency-replayed"]]).toEqual([200, undefined]);
  expect(new Set(commandsOf(edge)).size).toBe(3);
  expect((await send(edge, "key-1").catch(() => undefined))?.status).toBe(409);
});

test("of many simultaneous retries of a refused request one sends a command", async () => {
  const { pool } = await testDatabase("edge");
  const idempotency = createIdempotencyStore(pool, { now: () => new Date(), log: logTo([]), keptMs: 30 * DAY_MS });
  const busyUntil = new Date(Date.now() + 60_000);
  const claim = () =>
    idempotency.claim({ clientId: "k", key: "same", fingerprint: Buffer.alloc(32), commandId: uuidv7(), busyUntil });
  const refuse = async () => Promise.reject(INSUFFICIENT_FUNDS);
  await expect(idempotency.execute(await claim(), refuse)).rejects.toBe(INSUFFICIENT_FUNDS);
  // Opens all connections of the pool, so that no claim waits for one.
  await Promise.all(Array.from({ length: 8 }, () => pool.query("select pg_sleep(0.1)")));
  const claims = await Promise.allSettled(Array.from({ length: 8 }, claim));

  const granted = claims.filter(({ status }) => status === "fulfilled");
  expect(granted).toHaveLength(1);
});

test("a command that succeeded is never sent as a new one, also when its repetition is refused", async () => {
  const answers = [async () => aDeposit(), () => Promise.reject(INSUFFICIENT_FUNDS), async () => aDeposit()];
  const { edge } = await edgeWith(() => answers.shift()!());
  await send(edge, "key-1");

  expect(await send(edge, "key-1")).toMatchObject({
    status: 409,
    body: { outcome: "unknown", detail: expect.stringContaining("was accepted before") },
  });
  expect((await send(edge, "key-1")).status).toBe(200);
  expect(new Set(commandsOf(edge)).size).toBe(1);
});

test("an invalid key is reported with the other invalid fields", async () => {
  const { edge } = await edgeWith(async () => aDeposit());
  for (const key of ["", "a b", "x".repeat(256), "käse"]) {
    const answer = await send(edge, key, "/api/v1/investor/deposit?login=x&amount=1");
    expect(answer.status).toBe(422);
    expect(errorsOf(answer)).toEqual([
      ["login", "malformed"],
      ["Idempotency-Key", "malformed"],
    ]);
  }
  expect((await send(edge, "x".repeat(255))).status).toBe(200);
});

test("a request whose key cannot be recorded is refused and not executed", async () => {
  const { edge, pool } = await edgeWith(async () => aDeposit());
  const blocker = await pool.connect();
  onTestFinished(() => blocker.release());
  await blocker.query("begin");
  await blocker.query("lock table idempotency_key");
  const answer = await send(edge, "key-1");

  expect([answer.status, answer.body]).toMatchObject([503, { code: "service_unavailable", retryable: true }]);
  expect(answer.body).not.toHaveProperty("outcome");
  expect(edge.calls).toEqual([]);
  await blocker.query("rollback");
});

const ONCE_A_DAY = { perSecond: 1 / 86_400, burst: 1 };
const limitedTo = (limits: ClassLimits) => ({ app: { limits: { read: limits, money: limits, create: limits } } });
const MANY = { rate: { perSecond: 1_000, burst: 1_000 }, inProgress: 1_000 };

test.each<[number, TestOptions]>([
  [401, { app: { authenticate: async () => undefined } }],
  [403, { scopes: ["masters:read"] }],
  [429, limitedTo({ ...MANY, rate: ONCE_A_DAY })],
  [503, limitedTo({ ...MANY, inProgress: 0 })],
])("a request refused with %d before its key was looked up has no outcome", async (status, own) => {
  const edge = await testEdge({ ...own, funding: { deposit: async () => aDeposit() } });
  // The one request that the limit allows.
  await edge.call({ method: "POST", url: DEPOSIT });
  const plain = await edge.call({ method: "POST", url: DEPOSIT });
  const repeated = await send(edge, "key-1");

  expect([plain.status, plain.body]).toMatchObject([status, { outcome: "not_executed" }]);
  expect(repeated.status).toBe(status);
  expect(repeated.body).not.toHaveProperty("outcome");
  expect(repeated.body).not.toHaveProperty("operation_id");
});

test("what is wrong in a request with a key does not close an attempt whose answer was lost", async () => {
  const edge = await testEdge({ funding: { deposit: async () => aDeposit() } });
  await send(edge, "key-1");
  const finer = await send(edge, "key-1", `${DEPOSIT}.001`);

  expect([finer.status, finer.body]).toMatchObject([422, { code: "amount_precision" }]);
  expect(finer.body).not.toHaveProperty("outcome");
});

test("a key of another request that was refused is answered as not executed", async () => {
  const { edge } = await edgeWith(() => Promise.reject(INSUFFICIENT_FUNDS));
  await send(edge, "key-1");

  expect((await send(edge, "key-1", `${DEPOSIT}1`)).body).toMatchObject({
    code: "idempotency_key_reused",
    outcome: "not_executed",
    operation_id: commandsOf(edge)[0],
  });
});
