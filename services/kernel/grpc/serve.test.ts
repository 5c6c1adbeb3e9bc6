import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { answer, call, COMMAND_ID, contract, fullRefusal, refusalOf, request, silent } from "../testing/calls.ts";
import { createLog } from "../process/log.ts";
import { Refusal } from "../values/refusal.ts";
import { serveOverGrpc } from "./serve.ts";
import { testIdentity } from "../testing/identity.ts";
import { HOST, rawCall, rawChannel, serving } from "../testing/grpc-serving.ts";

test("a refusal arrives with all its fields and a matching gRPC status", async () => {
  const refusal = fullRefusal();
  await using setup = await serving(() => Promise.reject(refusal));

  expect(await refusalOf(setup.client.read(request, call()))).toEqual(refusal);
  const raw = await rawCall(setup.served.port, contract.read.path, contract.read.requestSerialize(request));
  expect(raw.code).toBe(status.ABORTED);
});

test("a refusal that is too large for a header keeps its code and status", async () => {
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

test("a text that Postgres cannot store is refused before the handler", async () => {
  let calls = 0;
  await using setup = await serving(async (message, context) => {
    calls += 1;
    return await answer(message, context);
  });

  expect(await refusalOf(setup.client.read({ ...request, feed: "a\0b" }, call()))).toMatchObject({
    code: "malformed_request",
    status: "invalid",
    outcome: "not_executed",
  });
  expect(calls).toBe(0);
});

test("a query without a database may be retried; the outcome of a command is unknown", async () => {
  const lines: string[] = [];
  const log = createLog({ service: "test", level: "warn", to: { write: (line: string) => void lines.push(line) } });
  await using setup = await serving(() => Promise.reject(new Error("timeout exceeded when trying to connect")), {
    log,
  });

  expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({
    code: "service_unavailable",
    outcome: "not_executed",
    retryAfterMs: 3_000,
  });
  expect(await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID })))).toMatchObject({
    code: "internal",
    outcome: "unknown",
  });
  // No defect to report.
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(
    Array.from({ length: 2 }, () =>
      expect.objectContaining({ level: "warn", msg: "request failed, the database did not answer" }),
    ),
  );
});

test("health and reflection are served under their standard names", async () => {
  await using setup = await serving(answer);
  const health = (service: string): Promise<{ code: status; answer: Buffer | undefined }> =>
    rawCall(
      setup.served.port,
      "/grpc.health.v1.Health/Check",
      Buffer.from([10, service.length, ...Buffer.from(service)]),
    );

  expect((await health("pamm.common.v1.FeedService")).answer).toEqual(Buffer.from([8, 1]));
  expect((await health("")).answer).toEqual(Buffer.from([8, 1]));
  expect((await health("unknown")).code).toBe(status.NOT_FOUND);

  const reflected = await reflect(setup.served.port, LIST_SERVICES, "*");
  expect(reflected).toContain("pamm.common.v1.FeedService");
  expect(reflected).not.toContain("AccountService");
  const file = await reflect(setup.served.port, FILE_CONTAINING_SYMBOL, "pamm.common.v1.FeedService");
  expect(file).toContain("pamm/common/v1/feed.proto");
  expect(file).toContain("ReadRequest");
});

test("a port that is in use is reported in one line", async () => {
  await using setup = await serving(answer);
  const { port } = setup.served;

  const identity = await testIdentity("platform");
  await expect(serveOverGrpc({ host: HOST, port, services: [], identity, log: silent })).rejects.toThrow(
    `port ${port} on 127.0.0.1 is taken`,
  );
});

/** Field numbers of ServerReflectionRequest that `grpcurl list` and `grpcurl describe` send. */
const LIST_SERVICES = 7;
const FILE_CONTAINING_SYMBOL = 4;

/** The text of the encoded answer. */
async function reflect(port: number, field: number, value: string): Promise<string> {
  const channel = await rawChannel(port);
  const asIs = (bytes: Buffer): Buffer => bytes;
  const path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
  const stream = channel.makeBidiStreamRequest(path, asIs, asIs);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  stream.on("data", (bytes: Buffer) => resolve(bytes.toString())).on("error", reject);
  stream.end(Buffer.from([field * 8 + 2, value.length, ...Buffer.from(value)]));
  return promise.finally(() => channel.close());
}
