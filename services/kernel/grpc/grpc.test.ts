import { createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { credentials, Metadata, status, Client as Channel } from "@grpc/grpc-js";
import { expect, test, vi } from "vitest";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { callContext } from "../contract/context.ts";
import type { CallContext, Implementation } from "../contract/contract.ts";
import { createLog } from "../log.ts";
import { Refusal } from "../refusal.ts";
import { grpcClient } from "./client.ts";
import { serveOverGrpc } from "./serve.ts";

type Read = Implementation<typeof FeedServiceService>["read"];

const COMMAND_ID = "01978f3c-0000-7000-8000-000000000001";
const contract = FeedServiceService;
const request = { feed: "test.things", afterNumber: 9_007_199_254_740_993n, afterId: 1n, limit: 10 };
const log = createLog({ service: "test", level: "silent" });
const answer: Read = async ({ afterNumber }) => ({ entries: [], lastNumber: afterNumber });
const HOST = "127.0.0.1";

async function serving(read: Read, { maxConcurrent = 64 } = {}) {
  const stack = new AsyncDisposableStack();
  const services = [{ contract, implementation: { read } }] as const;
  const served = stack.use(await serveOverGrpc({ host: HOST, port: 0, services, log, maxConcurrent }));
  const client = stack.use(grpcClient(`${HOST}:${served.port}`, { contract, caller: "funding" }));
  return { served, client, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const call = (facts: { commandId?: string; withinMs?: number; signal?: AbortSignal } = {}): CallContext =>
  callContext({ caller: "test", withinMs: 2_000, ...facts });

async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refusal) return error;
  throw new Error("was not refused", { cause: error });
}

/** A call by hand, without any header of ours. */
function rawCall(
  port: number,
  path: string,
  payload: Buffer,
): Promise<{ code: status; answer: Buffer | undefined; metadata: Metadata }> {
  const channel = new Channel(`${HOST}:${port}`, credentials.createInsecure());
  const asIs = (bytes: Buffer): Buffer => bytes;
  return new Promise((resolve) => {
    channel.makeUnaryRequest(path, asIs, asIs, payload, new Metadata(), (error, bytes) => {
      channel.close();
      resolve({ code: error?.code ?? status.OK, answer: bytes, metadata: error?.metadata ?? new Metadata() });
    });
  });
}

test("a call reaches the handler with its message and its context", async () => {
  let seen: CallContext | undefined;
  await using setup = await serving(async (message, context) => {
    seen = context;
    return await answer(message, context);
  });
  const context = { ...call({ commandId: COMMAND_ID }), traceparent: "00-trace-01" };

  expect(await setup.client.read(request, context)).toEqual({ entries: [], lastNumber: 9_007_199_254_740_993n });

  const { signal: _, ...rest } = seen as CallContext;
  expect(rest).toEqual({
    requestId: context.requestId,
    commandId: COMMAND_ID,
    caller: "funding",
    deadline: context.deadline,
    traceparent: "00-trace-01",
  });
});

test("a refusal arrives whole, and tools without our Error see a fitting status", async () => {
  const refusal = new Refusal({
    code: "account_busy",
    status: "conflict",
    message: "the account is büsy",
    details: { login: "7" },
    errors: [{ field: "login", code: "busy", message: "is busy" }],
    outcome: "not_executed",
    operationId: "op-1",
    retryAfterMs: 250,
  });
  await using setup = await serving(() => Promise.reject(refusal));

  expect(await refusalOf(setup.client.read(request, call()))).toEqual(refusal);
  const raw = await rawCall(setup.served.port, contract.read.path, contract.read.requestSerialize(request));
  expect(raw.code).toBe(status.ABORTED);
});

test("a refusal that is too large for a header keeps what callers branch on", async () => {
  const errors = Array.from({ length: 1_000 }, (_, index) => ({ field: `f${index}`, code: "bad", message: "is bad" }));
  await using setup = await serving(() =>
    Promise.reject(new Refusal({ code: "many", status: "invalid", message: "no", errors })),
  );

  expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({
    code: "many",
    status: "invalid",
    errors: [],
  });
});

test("a fault is answered without detail, a payload that is no request as malformed", async () => {
  await using setup = await serving(() => Promise.reject(new Error("planted detail")));

  expect(await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID })))).toMatchObject({
    code: "internal",
    message: "internal error",
    outcome: "unknown",
  });
  const raw = await rawCall(setup.served.port, contract.read.path, Buffer.from([10, 200]));
  expect(raw.code).toBe(status.INVALID_ARGUMENT);
  expect(raw.metadata.get("pamm-error-bin")[0]?.toString()).toContain("malformed_request");
});

test("commands beyond the cap are answered busy at once, while questions still pass", async () => {
  const release = Promise.withResolvers<void>();
  await using setup = await serving(
    async (message, context) => {
      if (context.commandId !== "") await release.promise;
      return await answer(message, context);
    },
    { maxConcurrent: 1 },
  );
  const running = setup.client.read(request, call({ commandId: COMMAND_ID }));
  await vi.waitFor(async () => {
    expect(await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID, withinMs: 50 })))).toMatchObject({
      code: "busy",
    });
  });
  await setup.client.read(request, call());
  release.resolve();
  await running;
});

test("no answer in time is outcome_unknown, and the handler hears that nobody waits", async () => {
  const heard = Promise.withResolvers<void>();
  await using setup = await serving(async (message, context) => {
    context.signal.addEventListener("abort", () => heard.resolve());
    await heard.promise;
    return await answer(message, context);
  });

  expect(await refusalOf(setup.client.read(request, call({ withinMs: 100 })))).toMatchObject({
    code: "outcome_unknown",
    status: "unknown_outcome",
    outcome: "unknown",
  });
  await heard.promise;
});

test("a caller that hangs up is heard by the handler, and knows no outcome", async () => {
  const began = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<void>();
  await using setup = await serving(async (message, context) => {
    context.signal.addEventListener("abort", () => heard.resolve());
    began.resolve();
    await heard.promise;
    return await answer(message, context);
  });
  const hangUp = new AbortController();
  const running = refusalOf(setup.client.read(request, call({ signal: hangUp.signal })));
  await began.promise;
  hangUp.abort();

  expect(await running).toMatchObject({ code: "outcome_unknown" });
  await heard.promise;
});

test("a deadline that has passed, or a caller that hung up before, sends nothing", async () => {
  const read = vi.fn(answer);
  await using setup = await serving(read);

  const late = { ...call(), deadline: new Date(Date.now() - 1) };
  expect(await refusalOf(setup.client.read(request, late))).toMatchObject({
    code: "deadline_exceeded",
    outcome: "not_executed",
  });
  const gone = call({ signal: AbortSignal.abort() });
  expect(await refusalOf(setup.client.read(request, gone))).toMatchObject({ outcome: "not_executed" });
  expect(read).not.toHaveBeenCalled();
});

test("a peer that is not there is service_unavailable: surely not executed", async () => {
  const listener = createServer().listen(0, HOST);
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  using client = grpcClient(`${HOST}:${port}`, { contract, caller: "funding" });

  for (const _ of [1, 2, 3]) {
    expect(await refusalOf(client.read(request, call()))).toMatchObject({
      code: "service_unavailable",
      status: "unavailable",
      outcome: "not_executed",
    });
  }
  using nameless = grpcClient("no-such-host.invalid:1", { contract, caller: "funding" });
  expect(await refusalOf(nameless.read(request, call()))).toMatchObject({ code: "service_unavailable" });
});

test("a connection that dies under a call is outcome_unknown", async () => {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  await using setup = await serving(async (message, context) => {
    began.resolve();
    await release.promise;
    return await answer(message, context);
  });
  const proxy = await cuttingProxy(setup.served.port);
  using client = grpcClient(`${HOST}:${proxy.port}`, { contract, caller: "funding" });

  const running = refusalOf(client.read(request, call({ commandId: COMMAND_ID })));
  await began.promise;
  proxy.cut();

  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  release.resolve();
});

test("a peer that comes back is found again within about a second", async () => {
  const first = await serving(answer);
  const { port } = first.served;
  using client = grpcClient(`${HOST}:${port}`, { contract, caller: "funding" });
  await client.read(request, call());
  await first[Symbol.asyncDispose]();
  await refusalOf(client.read(request, call()));

  const services = [{ contract, implementation: { read: answer } }] as const;
  await using _second = await serveOverGrpc({ host: HOST, port, services, log });
  await vi.waitFor(async () => expect((await client.read(request, call())).lastNumber).toBe(request.afterNumber), {
    timeout: 2_500,
    interval: 50,
  });
});

test("a server that stops answers what it has begun and takes nothing new", async () => {
  const began = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const setup = await serving(async (message, context) => {
    began.resolve();
    await release.promise;
    return await answer(message, context);
  });
  const running = setup.client.read(request, call());
  await began.promise;

  const stopped = setup.served[Symbol.asyncDispose]();
  using late = grpcClient(`${HOST}:${setup.served.port}`, { contract, caller: "funding" });
  expect(await refusalOf(late.read(request, call()))).toMatchObject({ code: "service_unavailable" });
  release.resolve();

  expect(await running).toEqual({ entries: [], lastNumber: request.afterNumber });
  await stopped;
  await setup[Symbol.asyncDispose]();
});

test("health and reflection answer by their standard names", async () => {
  await using setup = await serving(answer);
  const health = (service: string): Promise<{ code: status; answer: Buffer | undefined }> =>
    rawCall(
      setup.served.port,
      "/grpc.health.v1.Health/Check",
      Buffer.from([10, service.length, ...Buffer.from(service)]),
    );

  expect((await health("pamm.common.v1.FeedService")).answer).toEqual(Buffer.from([8, 1]));
  expect((await health("")).answer).toEqual(Buffer.from([8, 1]));
  expect((await health("nobody")).code).toBe(status.NOT_FOUND);

  const reflected = await listServices(setup.served.port);
  expect(reflected).toContain("pamm.common.v1.FeedService");
  expect(reflected).not.toContain("AccountService");
});

test("a port that is taken is told in one line", async () => {
  await using setup = await serving(answer);
  const { port } = setup.served;

  await expect(serveOverGrpc({ host: HOST, port, services: [], log })).rejects.toThrow(
    `port ${port} on 127.0.0.1 is taken`,
  );
});

/** What grpcurl list asks for, as the text of the encoded answer. */
function listServices(port: number): Promise<string> {
  const channel = new Channel(`${HOST}:${port}`, credentials.createInsecure());
  const asIs = (bytes: Buffer): Buffer => bytes;
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const stream = channel.makeBidiStreamRequest(path, asIs, asIs);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  stream.on("data", (bytes: Buffer) => resolve(bytes.toString())).on("error", reject);
  stream.end(Buffer.from([0x3a, 1, 0x2a]));
  return promise.finally(() => channel.close());
}

/** Passes bytes on until it is told to drop all connections. */
async function cuttingProxy(target: number): Promise<{ port: number; cut: () => void }> {
  const { connect } = await import("node:net");
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(target, HOST);
    sockets.push(near, far);
    near.on("error", () => {}).pipe(far);
    far.on("error", () => {}).pipe(near);
  }).listen(0, HOST);
  await new Promise((resolve) => server.once("listening", resolve));
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { port: (server.address() as AddressInfo).port, cut };
}
