import { once } from "node:events";
import { connect } from "node:net";
import { type Client as Channel, Metadata, type ServiceError } from "@grpc/grpc-js";
import fc from "fast-check";
import { headers } from "nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Contract, type Implementation, type Method, methodsOf } from "#kernel/contract/contract.ts";
import { decodeRefusal } from "#kernel/contract/error.ts";
import { HEADER } from "#kernel/contract/headers.ts";
import { serveOverGrpc } from "#kernel/grpc/serve.ts";
import { createLog } from "#kernel/process/log.ts";
import { type Broker, connectNats } from "#kernel/nats/connect.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { subjectOf } from "#kernel/nats/subject.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { rawChannel } from "#kernel/testing/grpc-serving.ts";
import { permitAll, testIdentity } from "#kernel/testing/identity.ts";
import { CONTRACTS, descriptorOf } from "#test/support/contracts.ts";
import { testNats } from "#test/support/nats.ts";
import { bytesOf, damagedBytes } from "./messages/arbitrary-message.ts";
import { FUZZ_TIMEOUT_MS, fuzzAsync } from "./support/fuzz.ts";

const log = createLog({ service: "fuzz", level: "silent" });
const stack = new AsyncDisposableStack();
/** Each with requests that another protobuf encoder writes. */
const RPCS = CONTRACTS.flatMap((contract) =>
  methodsOf(contract).map((method) => ({ contract, method, request: bytesOf(descriptorOf(method).input) })),
);
const TIMEOUT_MS = 10_000;
/** Refusals of the transports, and the one of the handlers. */
const KNOWN = ["malformed_request", "deadline_exceeded", "refused_by_handler"];

let broker: Broker;
let channel: Channel;
let grpcPort: number;
let prefix: string;

beforeAll(async () => {
  const nats = stack.use(await testNats());
  ({ prefix } = nats);
  broker = stack.use(await connectNats({ url: nats.url, name: "fuzz", log }));
  const services = CONTRACTS.map((contract) => ({
    contract,
    implementation: refusing(contract),
    permissions: permitAll(contract),
  }));
  for (const [index, mounted] of services.entries()) {
    stack.use(await serveOverNats(broker, { service: `${prefix}${index}`, ...mounted, log }));
  }
  const identity = await testIdentity("platform");
  const grpc = stack.use(await serveOverGrpc({ host: "127.0.0.1", port: 0, services, identity, log }));
  grpcPort = grpc.port;
  channel = await rawChannel(grpcPort);
  stack.defer(() => channel.close());
});

afterAll(() => stack.disposeAsync());

const HEADERS = fc.dictionary(
  fc.constantFrom(HEADER.requestId, HEADER.commandId, HEADER.caller, HEADER.deadline, "traceparent", HEADER.error),
  fc.oneof(
    fc.constantFrom(
      "",
      "x",
      "-1",
      "0",
      "1e9",
      "99999999999999999999",
      "y".repeat(300),
      "0199f3a2-7c1e-7000-8000-000000000001",
    ),
    fc.string({ maxLength: 12 }).map((text) => text.replaceAll(/[^\x20-\x7e]/g, "?").trim()),
  ),
  { maxKeys: 3 },
);

const call = fc.constantFrom(...RPCS).chain((rpc) =>
  fc.record({
    rpc: fc.constant(rpc),
    payload: fc.oneof(
      { weight: 2, arbitrary: damagedBytes(rpc.request) },
      { weight: 1, arbitrary: rpc.request },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    ),
    sentHeaders: HEADERS,
  }),
);

test(
  "any bytes in a request over NATS are answered with a valid refusal",
  async () => {
    await fuzzAsync("payloads over NATS", 800, call, async ({ rpc, payload, sentHeaders }) => {
      expect(KNOWN).toContain((await overNats(rpc, payload, sentHeaders)).code);
    });
    for (const rpc of RPCS) expect((await overNats(rpc, Buffer.alloc(0), {})).code).toBe("refused_by_handler");
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "any bytes in a request over gRPC are answered with a valid refusal",
  async () => {
    await fuzzAsync("payloads over gRPC", 500, call, async ({ rpc, payload, sentHeaders }) => {
      expect(KNOWN).toContain((await overGrpc(rpc, payload, sentHeaders)).code);
    });
    for (const rpc of RPCS) expect((await overGrpc(rpc, Buffer.alloc(0), {})).code).toBe("refused_by_handler");
  },
  FUZZ_TIMEOUT_MS,
);

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const FRAMES = fc.array(
  fc.record({ type: fc.nat(12), flags: fc.nat(255), stream: fc.nat(5), payload: fc.uint8Array({ maxLength: 30 }) }),
  { maxLength: 5 },
);
const noise = fc.oneof(
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  FRAMES.map((frames) =>
    Buffer.concat([
      PREFACE,
      frameOf(4, 0, 0, Buffer.alloc(0)),
      ...frames.map((own) => frameOf(own.type, own.flags, own.stream, own.payload)),
    ]),
  ),
  fc.constant(Buffer.from("GET / HTTP/1.1\r\nHost: x\r\n\r\n")),
);

test(
  "invalid bytes on the gRPC port do not affect other connections",
  async () => {
    await fuzzAsync("bytes on the gRPC port", 100, noise, async (bytes) => {
      const socket = connect(grpcPort, "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.end(bytes);
      setTimeout(() => socket.destroy(), 20).unref();
      await once(socket, "close");
    });
    expect((await overGrpc(RPCS[0]!, Buffer.alloc(0), {})).code).toBe("refused_by_handler");
  },
  FUZZ_TIMEOUT_MS,
);

type Sent = { readonly contract: Contract; readonly method: Method };

async function overNats(
  { contract, method }: Sent,
  payload: Buffer,
  sentHeaders: Record<string, string>,
): Promise<Refusal> {
  const sent = headers();
  for (const [name, value] of Object.entries(sentHeaders)) sent.set(name, value);
  const subject = subjectOf(`${prefix}${CONTRACTS.indexOf(contract)}`, method.rpc);
  const reply = await broker.connection.request(subject, payload, { timeout: TIMEOUT_MS, headers: sent });
  expect(reply.headers?.get(HEADER.error)).not.toBe("");
  return decodeRefusal(reply.data);
}

async function overGrpc({ method }: Sent, payload: Buffer, sentHeaders: Record<string, string>): Promise<Refusal> {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(sentHeaders)) metadata.set(name, value);
  const { promise, resolve } = Promise.withResolvers<ServiceError | null>();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const options = { deadline: Date.now() + TIMEOUT_MS };
  channel.makeUnaryRequest(method.path, asIs, asIs, payload, metadata, options, (error) => resolve(error));
  const [bytes] = (await promise)?.metadata.get(HEADER.errorBytes) ?? [];
  if (bytes === undefined || typeof bytes === "string") throw new Error(`${method.path} was not refused`);
  return decodeRefusal(bytes);
}

/** Handlers that refuse every decoded request. */
function refusing(contract: Contract): Implementation<Contract> {
  const no = async (): Promise<never> => {
    throw new Refusal({ code: "refused_by_handler", status: "conflict", message: "refused" });
  };
  return Object.fromEntries(methodsOf(contract).map(({ name }) => [name, no]));
}

function frameOf(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}
