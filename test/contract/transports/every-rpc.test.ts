import { afterAll, beforeAll, expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import {
  methodsOf,
  type CallContext,
  type Contract,
  type Implementation,
  type Method,
} from "#kernel/contract/contract.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { serveOverGrpc } from "#kernel/grpc/serve.ts";
import { createLog } from "#kernel/process/log.ts";
import { connectNats, type Broker } from "#kernel/nats/connect.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { permitAll, testIdentity } from "#kernel/testing/identity.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { CONTRACTS, descriptorOf } from "#test/support/contracts.ts";
import { testNats } from "#test/support/nats.ts";
import { sampleBytes } from "../proto/sample.ts";

const COMMAND = "0199f3a2-7c1e-7000-8000-000000000001";

const log = createLog({ service: "test", level: "silent" });
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
    for (const method of methodsOf(contract)) {
      const { name, rpc } = method;
      const request = method.requestDeserialize(sampleBytes(descriptorOf(method).input));
      const refusal = { code: "refused_by_handler", status: "conflict", details: { rpc: name } };
      const requestId = `${prefix}-${rpc}`;
      handled.length = 0;
      for (const client of [overNats, overGrpc]) {
        const context = callContext({ caller: "test", withinMs: 5_000, commandId: COMMAND, requestId });
        expect(await call(client, name, request, context), rpc).toEqual(sampleResponse(method));
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
  const handlers = methodsOf(contract).map((method) => {
    const { name, rpc } = method;
    const handler = async (request: unknown, { commandId, requestId }: CallContext): Promise<unknown> => {
      if (requestId === "refuse") throw refusalOf(name);
      handled.push({ rpc, request, commandId, requestId });
      return sampleResponse(method);
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

function sampleResponse(method: Method): unknown {
  return method.responseDeserialize(sampleBytes(descriptorOf(method).output));
}
