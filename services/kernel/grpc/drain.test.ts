import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { answer, call, COMMAND_ID, contract, type Read, refusalOf, request, silent } from "../testing/calls.ts";
import { HOST } from "../testing/grpc-serving.ts";
import { permitAll, testIdentity } from "../testing/identity.ts";
import { grpcClient } from "./client.ts";
import { serveOverGrpc } from "./serve.ts";

const CALLERS = 8;
/** On a busy machine, a call that is tried again takes half a second. */
const DRAIN = { timeout: 25_000 };

/** A replica that notes the calls that it executes; the one with the number 0 is in progress until it is released. */
async function replica() {
  const executed: bigint[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const began = Promise.withResolvers<void>();
  const read: Read = async (message, context) => {
    executed.push(message.afterId);
    if (message.afterId === 0n) {
      began.resolve();
      await held;
    }
    return await answer(message, context);
  };
  const services = [{ contract, implementation: { read }, permissions: permitAll(contract) }] as const;
  const identity = await testIdentity("platform");
  const server = await serveOverGrpc({ host: HOST, port: 0, services, identity, log: silent });
  let stopping: PromiseLike<void> | undefined;
  const stop = async (): Promise<void> => await (stopping ??= server[Symbol.asyncDispose]());
  return {
    port: server.port,
    executed,
    began: began.promise,
    release,
    stop,
    async [Symbol.asyncDispose]() {
      release();
      await stop();
    },
  };
}

async function clientOf(...replicas: readonly { readonly port: number }[]) {
  const identity = await testIdentity("funding");
  const address = `ipv4:${replicas.map(({ port }) => `${HOST}:${port}`).join(",")}`;
  return grpcClient(address, { contract, service: "platform", identity, freshForMs: 3_600_000 });
}

test("while a replica drains, each call is executed once, by the other one if it arrives too late", async () => {
  await using leaving = await replica();
  await using staying = await replica();
  using client = await clientOf(leaving, staying);
  using only = await clientOf(leaving);
  const held = only.read({ ...request, afterId: 0n }, call({ withinMs: 50_000 }));
  await leaving.began;

  let last = 0n;
  let isOver = false;
  const answered: bigint[] = [];
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const afterId = (last += 1n);
      await client.read({ ...request, afterId }, call({ commandId: COMMAND_ID, withinMs: 20_000 }));
      answered.push(afterId);
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, caller));
  await waitFor(() => expect(Math.min(leaving.executed.length, staying.executed.length)).toBeGreaterThan(20));

  void leaving.stop();
  // Calls that it has begun to read are executed; its connections stay open until the call in progress is answered.
  const atStop = leaving.executed.length;
  const after = staying.executed.length + 100;
  await waitFor(() => expect(staying.executed.length).toBeGreaterThan(after), DRAIN);
  expect(leaving.executed.length - atStop).toBeLessThanOrEqual(CALLERS);
  isOver = true;
  await callers;
  leaving.release();

  expect((await held).lastNumber).toBe(request.afterNumber);
  await leaving.stop();
  const executed = [...leaving.executed, ...staying.executed].toSorted((a, b) => Number(a - b));
  expect(executed).toEqual(Array.from({ length: Number(last) + 1 }, (_, index) => BigInt(index)));
  expect(answered).toHaveLength(Number(last));
});

test("when every replica drains, a call ends as not executed", async () => {
  await using leaving = await replica();
  using client = await clientOf(leaving);
  const held = client.read({ ...request, afterId: 0n }, call({ withinMs: 20_000 }));
  await leaving.began;
  void leaving.stop();

  const refusal = await refusalOf(client.read({ ...request, afterId: 1n }, call({ commandId: COMMAND_ID })));
  expect(refusal).toMatchObject({ code: "service_unavailable", outcome: "not_executed" });
  leaving.release();
  await held;
  expect(leaving.executed).toEqual([0n]);
});
