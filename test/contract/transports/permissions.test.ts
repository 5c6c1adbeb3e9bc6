import { afterAll, expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import { type Contract, type Implementation, methodsOf } from "#kernel/contract/contract.ts";
import { SERVICE_NAMES } from "#catalogue/services.ts";
import { grpcClient } from "#kernel/grpc/client.ts";
import { serveOverGrpc } from "#kernel/grpc/serve.ts";
import { createLog } from "#kernel/process/log.ts";
import { natsClient } from "#kernel/nats/client.ts";
import { connectNats } from "#kernel/nats/connect.ts";
import { serveOverNats } from "#kernel/nats/serve.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { testIdentity } from "#kernel/testing/identity.ts";
import { CALLABLE, SERVED } from "#test/support/contracts.ts";
import { testNats } from "#test/support/nats.ts";

const SERVICES = CALLABLE.map((service) => ({ service, ...SERVED[service] }));
const log = createLog({ service: "test", level: "silent" });
const stack = new AsyncDisposableStack();

afterAll(() => stack.disposeAsync());

/** Every method refuses in its own way, so that a call that arrived differs from one that was not permitted. */
function arriving(contract: Contract): Implementation<Contract> {
  const arrive = () => Promise.reject(new Refusal({ code: "arrived", status: "conflict", message: "arrived" }));
  return Object.fromEntries(methodsOf(contract).map(({ name }) => [name, arrive]));
}

/** The methods of the service that a client can use. */
async function usable(client: Implementation<Contract>, contract: Contract): Promise<string[]> {
  const names: string[] = [];
  for (const { name, requestDeserialize } of methodsOf(contract)) {
    const context = callContext({ caller: "test", withinMs: 5_000 });
    const method = client[name] as (request: unknown, context: unknown) => Promise<unknown>;
    const refusal: unknown = await method(requestDeserialize(Buffer.alloc(0)), context).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ code: expect.stringMatching(/^(arrived|not_permitted)$/) as string });
    if ((refusal as Refusal).code === "arrived") names.push(name);
  }
  return names;
}

test.each(SERVICES)(
  "with the certificate of each service, $service answers only what it permits to that service",
  async ({ service, contract, permissions }) => {
    const identity = await testIdentity(service);
    const services = [{ contract, implementation: arriving(contract), permissions }];
    const { port } = stack.use(await serveOverGrpc({ host: "127.0.0.1", port: 0, services, identity, log }));
    for (const caller of SERVICE_NAMES) {
      using client = grpcClient(`127.0.0.1:${port}`, { contract, service, identity: await testIdentity(caller) });
      const permitted = methodsOf(contract).filter(({ name }) => permissions[name]?.includes(caller));
      expect(await usable(client, contract)).toEqual(permitted.map(({ name }) => name));
    }
  },
);

test("over NATS the services answer only what the edge sends: no transfer, no account lock, no fee", async () => {
  const nats = await testNats();
  const broker = stack.use(await connectNats({ url: nats.url, name: "permissions", log }));
  const answered: string[] = [];
  for (const { service, contract, permissions } of SERVICES) {
    const name = `${nats.prefix}${service}`;
    stack.use(
      await serveOverNats(broker, { service: name, contract, implementation: arriving(contract), permissions, log }),
    );
    answered.push(...(await usable(natsClient(broker, { service: name, contract, caller: "platform" }), contract)));
  }
  for (const internal of [
    "transfer",
    "transferBatch",
    "hold",
    "release",
    "createAccount",
    "collect",
    "leave",
    "returnReserve",
  ]) {
    expect(answered).not.toContain(internal);
  }
  expect(answered).toContain("deposit");
});

test("only the edge, which has authenticated the operator, can vote on a review", () => {
  for (const { permissions } of [SERVED.fee, SERVED.platform, SERVED.subscription]) {
    expect(permissions["decideReview"]).toEqual(["edge"]);
  }
});
