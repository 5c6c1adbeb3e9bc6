import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createClient } from "./client.ts";
import { isProblem, NoAnswerError, ProblemError } from "./errors.ts";
import { answer, cut, gateway, problem, scriptedServer, type Scripted, type TestServer } from "./test-server.ts";
import type { Attempt } from "./transport.ts";

const API_KEY = "pamm_test_key_secret";
const DEPOSIT = { query: { login: "3000003", amount: "250.50", comment: "CRM 1+1" } };
const DONE = `{"status":"success","amount":250.5,"deal_id":9007199254740993}`;
const OPERATION = "0198c0de-0000-7000-8000-000000000001";
const UNKNOWN = problem(504, "outcome_unknown", { outcome: "unknown", operation_id: OPERATION });
const REFUSED = { outcome: "not_executed" } as const;
const executed: Scripted = answer(DONE, { headers: { "idempotency-replayed": "true" } });

const ledger = (outcome: string): Scripted => answer({ id: OPERATION, outcome, amount: 250.5, deal_id: 7 });
const clientOf = ({ url }: TestServer, timeoutMs = 20_000) =>
  createClient({ baseUrl: `${url}/`, apiKey: API_KEY, timeoutMs });
const keysOf = ({ seen }: TestServer) => seen.map(({ headers }) => headers["idempotency-key"]);
const pathsOf = ({ seen }: TestServer) => seen.map(({ method, url }) => `${method} ${url.split("?")[0]}`);

test.concurrent("a command is sent with its parameters, the key and an Idempotency-Key, and its answer keeps every digit", async () => {
  await using server = await scriptedServer(answer(DONE));
  const result = await clientOf(server).command("depositFunds", DEPOSIT);

  expect(result).toMatchObject({ outcome: "executed", answer: { amount: "250.5", deal_id: 9_007_199_254_740_993n } });
  const [request] = server.seen;
  expect(request).toMatchObject({
    method: "POST",
    url: "/api/v1/investor/deposit?login=3000003&amount=250.50&comment=CRM%201%2B1",
    body: "",
    headers: { authorization: `Bearer ${API_KEY}`, "idempotency-key": result.idempotencyKey },
  });
});

test.concurrent.each([
  ["a connection that breaks", [cut, executed]],
  ["the answer of a gateway", [gateway, executed]],
  ["an answer that is cut", [answer(DONE.slice(0, 20)), executed]],
  ["a retryable refusal", [problem(503, "service_unavailable", { ...REFUSED, retryable: true }), executed]],
  ["a retryable refusal without outcome", [problem(429, "rate_limited", { retryable: true }), executed]],
  ["all of them", [cut, problem(500, "internal_error"), gateway, cut, executed]],
])("after %s the command is repeated under its key", async (_, script) => {
  await using server = await scriptedServer(...script);
  const result = await clientOf(server).command("depositFunds", DEPOSIT, { idempotencyKey: "order-7" });

  expect(result.outcome).toBe("executed");
  expect(keysOf(server)).toEqual(script.map(() => "order-7"));
});

test.concurrent("after an unknown outcome the ledger is asked, and the repetition brings the answer", async () => {
  await using server = await scriptedServer(UNKNOWN, ledger("pending"), ledger("executed"), executed);
  const result = await clientOf(server).command("depositFunds", DEPOSIT);

  expect(result).toMatchObject({ outcome: "executed", answer: { deal_id: 9_007_199_254_740_993n } });
  const operation = `GET /api/v1/operations/${OPERATION}`;
  expect(pathsOf(server)).toEqual([
    "POST /api/v1/investor/deposit",
    operation,
    operation,
    "POST /api/v1/investor/deposit",
  ]);
  expect(server.seen[1]?.url).toMatch(/\?wait=1\d$/);
});

test.concurrent("what the ledger does not have is repeated under its key", async () => {
  await using server = await scriptedServer(UNKNOWN, problem(404, "operation_not_found"), executed);
  const result = await clientOf(server).command("createInvestor", {
    body: { first_name: "I", last_name: "V", name: "I", username: "i@example.com", platform_group: "g" },
  });

  expect(result.outcome).toBe("executed");
  expect(keysOf(server)).toEqual([result.idempotencyKey, undefined, result.idempotencyKey]);
});

test.concurrent("an outcome that is not executed is not sent again", async () => {
  await using server = await scriptedServer(UNKNOWN, ledger("not_executed"));
  const result = await clientOf(server).command("depositFunds", DEPOSIT);

  expect(result).toMatchObject({ outcome: "not_executed", problem: undefined, operation: { deal_id: 7n } });
  expect(server.seen).toHaveLength(2);
});

test.concurrent("an operation under review is unknown", async () => {
  await using server = await scriptedServer(UNKNOWN, ledger("review"));

  expect(await clientOf(server).command("depositFunds", DEPOSIT)).toMatchObject({
    outcome: "unknown",
    operation: { outcome: "review" },
  });
  expect(server.seen).toHaveLength(2);
});

test.concurrent("a refusal is returned with its members and not sent again", async () => {
  const members = { ...REFUSED, required: "100.00", actual: "0.00" };
  await using server = await scriptedServer(problem(409, "below_min_deposit", members));
  const body = { master_login: "1", investor_login: "2", perf_fee: { rate: "0.3", enabled: true } };
  const result = await clientOf(server).command("assignInvestor", { body });

  if (result.outcome !== "not_executed") throw new Error(result.outcome);
  if (result.problem?.code !== "below_min_deposit") throw new Error(result.problem?.code);
  expect([result.problem.required, server.seen.length]).toEqual(["100.00", 1]);
  expect(server.seen[0]?.body).toContain('"rate":0.3');
});

test.concurrent.each([
  [401, "unauthorized"],
  [422, "amount_precision"],
])("a problem %d that says nothing of an earlier attempt leaves its outcome unknown", async (status, code) => {
  await using server = await scriptedServer(cut, problem(status, code));
  expect(await clientOf(server).command("depositFunds", DEPOSIT)).toMatchObject({ outcome: "unknown" });
  expect(server.seen).toHaveLength(2);

  await using refused = await scriptedServer(problem(status, code));
  expect(await clientOf(refused).command("depositFunds", DEPOSIT)).toMatchObject({ outcome: "not_executed" });
});

test.concurrent("a key that another request has leaves the outcome unknown, and is not sent again", async () => {
  const script = [cut, problem(422, "idempotency_key_reused", { outcome: "unknown", operation_id: OPERATION })];
  await using server = await scriptedServer(...script);

  expect(await clientOf(server).command("depositFunds", DEPOSIT)).toMatchObject({
    outcome: "unknown",
    error: { problem: { code: "idempotency_key_reused" } },
  });
  expect(server.seen).toHaveLength(script.length);
});

test.concurrent("of a command with a key of the caller, an attempt of an earlier call may have been executed", async () => {
  const own = { idempotencyKey: "order-7" };
  await using server = await scriptedServer(problem(401, "unauthorized"));
  expect(await clientOf(server).command("depositFunds", DEPOSIT, own)).toMatchObject({ outcome: "unknown" });

  const ended = await scriptedServer(executed);
  await ended[Symbol.asyncDispose]();
  expect(await clientOf(ended, 300).command("depositFunds", DEPOSIT, own)).toMatchObject({ outcome: "unknown" });

  await using refused = await scriptedServer(problem(409, "insufficient_funds", REFUSED));
  expect(await clientOf(refused).command("depositFunds", DEPOSIT, own)).toMatchObject({ outcome: "not_executed" });
});

test.concurrent("a retryable refusal does not end the doubt about an earlier attempt", async () => {
  const busy = problem(409, "account_busy", { ...REFUSED, retryable: true });
  await using server = await scriptedServer(cut, busy);

  expect(await clientOf(server, 600).command("depositFunds", DEPOSIT)).toMatchObject({ outcome: "unknown" });
  await using first = await scriptedServer(busy);
  expect(await clientOf(first, 300).command("depositFunds", DEPOSIT)).toMatchObject({
    outcome: "not_executed",
    problem: { code: "account_busy" },
  });
});

test.concurrent("a problem that says not_executed ends the doubt about an earlier attempt", async () => {
  await using server = await scriptedServer(cut, problem(409, "insufficient_funds", REFUSED));

  expect(await clientOf(server).command("withdrawFunds", DEPOSIT)).toMatchObject({
    outcome: "not_executed",
    problem: { code: "insufficient_funds" },
  });
});

test.concurrent("when the time is over, a command that may have been executed is unknown, and one that was never sent is not executed", async () => {
  await using server = await scriptedServer(cut);
  const unknown = await clientOf(server, 600).command("depositFunds", DEPOSIT);
  expect(unknown).toMatchObject({ outcome: "unknown", idempotencyKey: keysOf(server)[0] });
  expect(server.seen.length).toBeGreaterThan(1);

  const ended = await scriptedServer(executed);
  await ended[Symbol.asyncDispose]();
  const unreachable = clientOf(ended, 300);
  expect(await unreachable.command("depositFunds", DEPOSIT)).toMatchObject({
    outcome: "not_executed",
    problem: undefined,
  });
});

test.concurrent("a signal ends a call, and one that was aborted before sends nothing", async () => {
  await using server = await scriptedServer(() => controller.abort());
  const controller = new AbortController();
  const { signal } = controller;

  expect(await clientOf(server).command("depositFunds", DEPOSIT, { signal })).toMatchObject({ outcome: "unknown" });
  await expect(clientOf(server).command("depositFunds", DEPOSIT, { signal })).rejects.toThrow("abort");
  expect(server.seen).toHaveLength(1);
});

test.concurrent("Retry-After and RateLimit are waited for", async () => {
  const busy = problem(409, "account_busy", { ...REFUSED, retryable: true }, { "retry-after": "1" });
  await using server = await scriptedServer(
    busy,
    answer(DONE, { headers: { ratelimit: '"money";r=0;t=1' } }),
    executed,
  );
  const client = clientOf(server);
  const began = Date.now();

  await client.command("depositFunds", DEPOSIT);
  expect(Date.now() - began).toBeGreaterThanOrEqual(1_000);
  await client.command("depositFunds", DEPOSIT);
  expect(Date.now() - began).toBeGreaterThanOrEqual(2_000);
});

test.concurrent("a query is repeated when it may succeed later, and its problem is thrown otherwise", async () => {
  const later = problem(503, "service_unavailable", { retryable: true });
  await using server = await scriptedServer(
    cut,
    later,
    answer({ mt5_login: "5", balance: 0.1, ok: true, error: null }),
  );
  const balance = await clientOf(server).query("getBalance", { path: { mt5_login: "5" } });
  expect(balance.balance).toBe("0.1");

  await using missing = await scriptedServer(problem(404, "master_not_found"));
  const error: unknown = await clientOf(missing)
    .query("getMaster", { path: { master_id: 7n } })
    .catch((thrown) => thrown);
  expect(isProblem(error, "master_not_found")).toBe(true);
  expect(isProblem(error, "investor_not_found")).toBe(false);
  expect(missing.seen[0]?.url).toBe("/api/v1/master/7");
  await using broken = await scriptedServer(cut);
  await expect(clientOf(broken, 300).query("getApiKey")).rejects.toThrow(NoAnswerError);
});

test.concurrent("a query whose last attempt is cut by the end of its time throws the problem of the one before", async () => {
  const away = problem(503, "platform_unavailable", { retryable: true });
  await using server = await scriptedServer(away, () => {});
  const error: unknown = await clientOf(server, 1_500)
    .query("getApiKey")
    .catch((thrown) => thrown);
  expect(server.seen.length).toBe(2);
  expect(isProblem(error, "platform_unavailable")).toBe(true);
});

test.concurrent("the pages of a list are read one by one, and only as far as their items are taken", async () => {
  const page = (ids: readonly number[], cursor: string | null): Scripted =>
    answer({ items: ids.map((id) => ({ id })), next_cursor: cursor, has_more: cursor !== null });
  await using server = await scriptedServer(page([1, 2], "a&b"), page([3, 4], "c"), page([5], null));
  const list = { query: { engine: "PAMM", limit: 2 } } as const;
  const ids: bigint[] = [];
  for await (const { id } of clientOf(server).items("listMasters", list)) ids.push(id);

  expect(ids).toEqual([1n, 2n, 3n, 4n, 5n]);
  expect(server.seen.map(({ url }) => url.split("?")[1])).toEqual([
    "engine=PAMM&limit=2",
    "engine=PAMM&limit=2&cursor=a%26b",
    "engine=PAMM&limit=2&cursor=c",
  ]);
  for await (const { id } of clientOf(server).items("listMasters", list)) {
    expect(id).toBe(5n);
    break;
  }
  await using endless = await scriptedServer(page([1], "same"));
  const all = clientOf(endless).items("listMasters", list);
  await all.next();
  await all.next();
  await expect(all.next()).rejects.toThrow("same cursor");
});

test.concurrent("events are read on after the last one of a page", async () => {
  const page = (ids: readonly number[], last: number, more: boolean): Scripted =>
    answer({ items: ids.map((id) => ({ id })), next_cursor: last, has_more: more });
  await using server = await scriptedServer(page([3, 4], 4, true), page([7], 9, false));
  const ids: bigint[] = [];
  for await (const { id } of clientOf(server).items("listEvents", { query: { after: 2n, limit: 2 } })) ids.push(id);

  expect(ids).toEqual([3n, 4n, 7n]);
  expect(server.seen.map(({ url }) => url.split("?")[1])).toEqual(["after=2&limit=2", "after=4&limit=2"]);
});

test.concurrent("the API key is in no result, error or attempt, nor in the client itself", async () => {
  const attempts: Attempt[] = [];
  await using server = await scriptedServer(problem(401, "unauthorized"), cut);
  const client = createClient({
    baseUrl: server.url,
    apiKey: API_KEY,
    timeoutMs: 2_000,
    onAttempt: (attempt) => attempts.push(attempt),
  });
  const refused = await client.command("depositFunds", DEPOSIT);
  const error: unknown = await client.query("getApiKey").catch((thrown) => thrown);

  const shown = inspect([client, refused, error, attempts], { depth: 20, showHidden: true });
  expect(shown).toContain("unauthorized");
  expect(shown).not.toContain("secret");
  expect(attempts[0]).toMatchObject({ operation: "depositFunds", attempt: 1, status: 401, code: "unauthorized" });
});

test.concurrent("a redirect is not followed, because it would take the key elsewhere", async () => {
  await using other = await scriptedServer(answer("{}"));
  await using server = await scriptedServer((response) => response.writeHead(307, { location: other.url }).end());

  await expect(clientOf(server, 300).query("getApiKey")).rejects.toThrow(NoAnswerError);
  expect(other.seen).toEqual([]);
  expect(new ProblemError({ code: "conflict", detail: "Busy." } as never).message).toBe("conflict: Busy.");
});
