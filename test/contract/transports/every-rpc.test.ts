import { afterAll, beforeAll, expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { methodsOf, type CallContext, type Contract, type Implementation } from "#kernel/contract/contract.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { serveOverGrpc } from "#kernel/grpc/serve.ts";
import { createLog } from "#kernel/process/log.ts";
import { connectNats, type Broker } from "#kernel/nats/connect.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { permitAll, testIdentity } from "#kernel/testing/identity.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import { FeedServiceService } from "#proto/pamm/common/v1/feed.ts";
import { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import { testNats } from "#test/support/nats.ts";
import { sampleMessages } from "../proto/sample.ts";

const CONTRACTS: readonly Contract[] = [
  AccountServiceService,
  FeedServiceService,
  FeeServiceService,
  FundingServiceService,
  PlatformServiceService,
  SubscriptionServiceService,
];
const COMMAND = "0199f3a2-7c1e-7000-8000-000000000001";

const log = createLog({ service: "test", level: "silent" });
const samples = [...sampleMessages().values()];
const stack = new AsyncDisposableStack();
const handled: { rpc: string; request: unknown; commandId: string; requestId: string }[] = [];
let broker: Broker;
let grpcPort: number;
let prefix: string;

beforeAll(async () => {
  const nats = stack.use(await testNats());
  prefix = nats.prefix;
  broker = stack.use(await connectNats({ url: nats.url, name: "contract-test", log }));
  const services = CONTRACTS.map((contract) => ({
    contract,
    implementation: recording(contract),
    permissions: permitAll(contract),
  }));
  const identity = await testIdentity("platform");
  const grpc = stack.use(await serveOverGrpc({ host: "127.0.0.1", port: 0, services, identity, log }));
  grpcPort = grpc.port;
  for (const [index, mounted] of services.entries()) {
    stack.use(await serveOverNats(broker, { service: `${prefix}${index}`, ...mounted, log }));
  }
});

afterAll(() => stack.disposeAsync());

test.each(CONTRACTS.map((contract, index) => ({ service: methodsOf(contract)[0]?.service, contract, index })))(
  "each rpc of $service has the same request, response and refusal on NATS and on gRPC",
  async ({ contract, index }) => {
    using overGrpc = await grpcClientOf(contract);
    const overNats = natsClient(broker, { service: `${prefix}${index}`, contract, caller: "test" });
    for (const { name, rpc, requestDeserialize } of methodsOf(contract)) {
      const request = requestDeserialize(sampleRequest(contract, name));
      const refusal = { code: "refused_by_handler", status: "conflict", details: { rpc: name } };
      const requestId = `${prefix}-${rpc}`;
      handled.length = 0;
      for (const client of [overNats, overGrpc]) {
        const context = callContext({ caller: "test", withinMs: 5_000, commandId: COMMAND, requestId });
        expect(await call(client, name, request, context), rpc).toEqual(expectedResponse(contract, name));
        await expect(call(client, name, request, { ...context, requestId: "refuse" }), rpc).rejects.toMatchObject({
          ...refusal,
          outcome: "not_executed",
          retryAfterMs: 250,
        });
      }
      const seen = { rpc, request, commandId: COMMAND, requestId };
      expect(handled).toEqual([seen, seen]);
    }
  },
);

async function grpcClientOf(contract: Contract) {
  const identity = await testIdentity("edge");
  return grpcClient(`127.0.0.1:${grpcPort}`, { contract, service: "platform", identity });
}

/** Handlers that record their requests and answer with the sample of the response; request id "refuse" is refused. */
function recording(contract: Contract): Implementation<Contract> {
  const handlers = methodsOf(contract).map(({ name, rpc }) => {
    const handler = async (request: unknown, { commandId, requestId }: CallContext): Promise<unknown> => {
      if (requestId === "refuse") throw refusalOf(name);
      handled.push({ rpc, request, commandId, requestId });
      return expectedResponse(contract, name);
    };
    return [name, handler] as const;
  });
  return Object.fromEntries(handlers);
}

function refusalOf(rpc: string): Refusal {
  return new Refusal({
    code: "refused_by_handler",
    status: "conflict",
    message: "refused",
    details: { rpc },
    outcome: "not_executed",
    retryAfterMs: 250,
  });
}

async function call(
  client: Implementation<Contract>,
  name: string,
  request: unknown,
  context: CallContext,
): Promise<unknown> {
  const method = client[name] as (request: unknown, context: CallContext) => Promise<unknown>;
  return await method(request, context);
}

/** Bytes of the sample that decodes as the request and encodes to the same bytes. */
function sampleRequest(contract: Contract, name: string): Buffer {
  return sampleOf(
    (bytes) => roundTrip(contract[name]?.requestDeserialize, contract[name]?.requestSerialize, bytes),
    contract,
    name,
  );
}

function expectedResponse(contract: Contract, name: string): unknown {
  const method = contract[name];
  const bytes = sampleOf(
    (found) => roundTrip(method?.responseDeserialize, method?.responseSerialize, found),
    contract,
    name,
  );
  return method?.responseDeserialize(bytes);
}

function sampleOf(isSame: (bytes: Buffer) => boolean, contract: Contract, name: string): Buffer {
  const found = samples.find(isSame);
  if (found === undefined) throw new Error(`no sample fits ${contract[name]?.path}`);
  return found;
}

function roundTrip(
  read: ((bytes: Buffer) => unknown) | undefined,
  write: ((message: never) => Buffer) | undefined,
  bytes: Buffer,
): boolean {
  try {
    return read !== undefined && write !== undefined && write(read(bytes) as never).equals(bytes);
  } catch {
    return false;
  }
}
