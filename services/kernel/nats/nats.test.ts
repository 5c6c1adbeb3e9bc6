import { setTimeout as sleep } from "node:timers/promises";
import { headers } from "nats";
import { expect, test, vi } from "vitest";
import { Error as ErrorMessage } from "#proto/pamm/common/v1/error.ts";
import { FeedServiceService, ReadRequest } from "#proto/pamm/common/v1/feed.ts";
import { startOwnNats, testNats } from "#test/support/nats.ts";
import { callContext } from "../contract/context.ts";
import type { CallContext, Implementation } from "../contract/contract.ts";
import { createLog, type Log } from "../log.ts";
import { Refusal } from "../refusal.ts";
import { natsClient } from "./client.ts";
import { type Broker, connectNats } from "./connect.ts";
import { serveOverNats } from "./serve.ts";

type Read = Implementation<typeof FeedServiceService>["read"];

const COMMAND_ID = "01978f3c-0000-7000-8000-000000000001";
const contract = FeedServiceService;
const request = { feed: "test.things", afterNumber: 9_007_199_254_740_993n, afterId: 1n, limit: 10 };
const WITHIN = { timeout: 5_000, interval: 50 };
const encoded = ReadRequest.encode(request).finish();
const silent = createLog({ service: "test", level: "silent" });
const answer: Read = async ({ afterNumber }) => ({ entries: [], lastNumber: afterNumber });

type Options = { readonly maxConcurrent?: number; readonly log?: Log; readonly url?: string };

/** A service with one replica, and a client on a connection of its own. */
async function serving(read: Read, options: Options = {}) {
  const { url, prefix: service } = await testNats();
  const to = options.url ?? url;
  await using stack = new AsyncDisposableStack();
  const ours = stack.use(await connectNats({ url: to, name: service, log: silent }));
  const theirs = stack.use(await connectNats({ url: to, name: "edge", log: silent }));
  const serve = (handler: Read) =>
    serveOverNats(ours, { service, contract, implementation: { read: handler }, log: silent, ...options });
  const served = stack.use(await serve(read));
  const client = natsClient(theirs, { service, contract, caller: "edge" });
  const ask = (payload: Uint8Array, sent: Record<string, string> = {}) => rawCall(theirs, service, payload, sent);
  const all = stack.move();
  return { service, theirs, served, serve, client, ask, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A call by hand: the code of the refusal, or nothing. */
async function rawCall({ connection }: Broker, service: string, payload: Uint8Array, fields: Record<string, string>) {
  const sent = headers();
  for (const [name, value] of Object.entries(fields)) sent.set(name, value);
  const reply = await connection.request(`pamm.v1.${service}.Read`, payload, { timeout: 1_000, headers: sent });
  return reply.headers?.has("pamm-error") === true ? ErrorMessage.decode(reply.data).code : "";
}

const call = (facts: { commandId?: string; withinMs?: number } = {}): CallContext =>
  callContext({ caller: "test", withinMs: 2_000, ...facts });

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refusal) return error;
  throw new Error("was not refused", { cause: error });
}

test("a call reaches the handler with its message and its context", async () => {
  let seen: CallContext | undefined;
  await using setup = await serving(async (message, context) => {
    seen = context;
    return await answer(message, context);
  });
  const context = { ...call({ commandId: COMMAND_ID }), traceparent: "00-trace-01" };

  expect(await setup.client.read(request, context)).toEqual({ entries: [], lastNumber: 9_007_199_254_740_993n });

  const { signal, ...rest } = seen as CallContext;
  expect(rest).toEqual({
    requestId: context.requestId,
    commandId: COMMAND_ID,
    caller: "edge",
    deadline: context.deadline,
    traceparent: "00-trace-01",
  });
  expect(signal.aborted).toBe(false);
});

test("replicas share the work, and operators find them in the service directory", async () => {
  const counts = [0, 0];
  const counting =
    (index: number): Read =>
    (message, context) => {
      counts[index] = (counts[index] ?? 0) + 1;
      return answer(message, context);
    };
  await using setup = await serving(counting(0));
  await using _second = await setup.serve(counting(1));

  await Promise.all(Array.from({ length: 40 }, () => setup.client.read(request, call())));

  expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(40);
  expect(Math.min(...counts)).toBeGreaterThan(0);
  const found = [];
  for await (const info of await setup.theirs.connection.services.client().info(setup.service)) found.push(info);
  expect(found).toHaveLength(2);
  expect(found[0]?.endpoints).toEqual([
    { name: "Read", subject: `pamm.v1.${setup.service}.Read`, queue_group: setup.service, metadata: undefined },
  ]);
});

test("a refusal arrives whole", async () => {
  const refusal = new Refusal({
    code: "account_busy",
    status: "conflict",
    message: "the account is busy",
    details: { login: "7" },
    errors: [{ field: "login", code: "busy", message: "is busy" }],
    outcome: "not_executed",
    operationId: "op-1",
    retryAfterMs: 250,
  });
  await using setup = await serving(() => Promise.reject(refusal));

  expect(await refusalOf(setup.client.read(request, call()))).toEqual(refusal);
});

test("a fault is logged once with its stack and answered without detail", async () => {
  const lines: string[] = [];
  const log = createLog({ service: "test", level: "error", to: { write: (line) => void lines.push(line) } });
  await using setup = await serving(() => Promise.reject(new Error("column planted does not exist")), { log });

  const question = await refusalOf(setup.client.read(request, call()));
  const command = await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID })));

  expect(question).toMatchObject({
    code: "internal",
    status: "internal",
    message: "internal error",
    outcome: undefined,
  });
  expect(command).toMatchObject({ code: "internal", outcome: "unknown" });
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("column planted does not exist");
  expect(lines[1]).toContain("nats.test.ts");
  expect(lines[1]).toContain(`"command_id":"${COMMAND_ID}"`);
});

test("a payload that is no request, or headers that are none, are refused as malformed", async () => {
  await using setup = await serving(answer);

  expect(await setup.ask(new Uint8Array([10, 200]))).toBe("malformed_request");
  expect(await setup.ask(encoded, { "pamm-deadline": "soon" })).toBe("malformed_request");
  expect(await setup.ask(encoded, { "pamm-command-id": "first" })).toBe("malformed_request");
  expect(await setup.ask(encoded, { "pamm-request-id": "x".repeat(201) })).toBe("malformed_request");
  expect(await setup.ask(encoded)).toBe("");
});

test("work that is late before it begins is refused on either side", async () => {
  const read = vi.fn(answer);
  await using setup = await serving(read);
  const late = { ...call(), deadline: new Date(Date.now() - 1) };

  expect(await refusalOf(setup.client.read(request, late))).toMatchObject({
    code: "deadline_exceeded",
    status: "unavailable",
    outcome: "not_executed",
  });
  expect(await setup.ask(encoded, { "pamm-deadline": String(Date.now() - 1) })).toBe("deadline_exceeded");
  expect(read).not.toHaveBeenCalled();
});

test("commands beyond the cap are answered busy at once, while questions still pass", async () => {
  const release = Promise.withResolvers<void>();
  await using setup = await serving(
    async (message, context) => {
      if (context.commandId !== "") await release.promise;
      return await answer(message, context);
    },
    { maxConcurrent: 2 },
  );
  const running = [1, 2].map(() => setup.client.read(request, call({ commandId: COMMAND_ID })));
  await sleep(50);

  expect(await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID })))).toMatchObject({
    code: "busy",
    status: "busy",
    outcome: "not_executed",
    retryAfterMs: expect.any(Number),
  });
  await setup.client.read(request, call());
  release.resolve();
  await Promise.all(running);
  await setup.client.read(request, call({ commandId: COMMAND_ID }));
});

test("nobody who listens is service_unavailable: surely not executed", async () => {
  await using setup = await serving(answer);
  const nobody = natsClient(setup.theirs, { service: "nobody", contract, caller: "edge" });

  expect(await refusalOf(nobody.read(request, call()))).toMatchObject({
    code: "service_unavailable",
    status: "unavailable",
    outcome: "not_executed",
    retryAfterMs: expect.any(Number),
  });
});

test("no answer in time is outcome_unknown, and the handler hears that nobody waits", async () => {
  const heard = Promise.withResolvers<void>();
  await using setup = await serving(async (message, { signal, ...context }) => {
    signal.addEventListener("abort", () => heard.resolve());
    await heard.promise;
    return await answer(message, { ...context, signal });
  });

  expect(await refusalOf(setup.client.read(request, call({ withinMs: 100 })))).toMatchObject({
    code: "outcome_unknown",
    status: "unknown_outcome",
    outcome: "unknown",
  });
  await heard.promise;
});

test("a request that is too large is refused before it is sent, an answer that is too large after it was made", async () => {
  await using setup = await serving(async ({ feed }) => ({
    entries: [{ number: 1n, id: 1n, type: feed, payload: Buffer.alloc(1_100_000), toldAt: undefined, requestId: "" }],
    lastNumber: 1n,
  }));

  expect(await refusalOf(setup.client.read({ ...request, feed: "x".repeat(1_100_000) }, call()))).toMatchObject({
    code: "request_too_large",
    outcome: "not_executed",
  });
  expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({ code: "response_too_large" });
});

test("a server that stops answers what it has begun and takes nothing new", async () => {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using setup = await serving(async (message, context) => {
    began.resolve();
    await release.promise;
    return await answer(message, context);
  });
  const running = setup.client.read(request, call());
  await began.promise;

  const stopped = setup.served[Symbol.asyncDispose]();
  await vi.waitFor(async () => {
    expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({ code: "service_unavailable" });
  });
  release.resolve();

  expect(await running).toEqual({ entries: [], lastNumber: request.afterNumber });
  await stopped;
});

test("without a broker calls are refused at once, and once it is back they pass again", async () => {
  await using broker = await startOwnNats();
  await using setup = await serving(answer, broker);
  await broker.kill();
  await vi.waitFor(() => expect(setup.theirs.isConnected()).toBe(false));

  const startedAt = performance.now();
  const refused = await refusalOf(setup.client.read(request, call()));
  expect(refused).toMatchObject({ code: "service_unavailable", outcome: "not_executed" });
  expect(performance.now() - startedAt).toBeLessThan(100);

  await broker.restart();
  await vi.waitFor(async () => expect(await setup.client.read(request, call())).toBeDefined(), WITHIN);
});

test("a call that the broker's death cut off is outcome_unknown", async () => {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using broker = await startOwnNats();
  await using setup = await serving(async (message, context) => {
    began.resolve();
    await release.promise;
    return await answer(message, context);
  }, broker);
  const running = refusalOf(setup.client.read(request, call({ withinMs: 500 })));
  await began.promise;
  await broker.kill();
  release.resolve();

  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
});
