import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { answer, call, COMMAND_ID, heldHandler, type Read, request } from "../testing/calls.ts";
import { serving } from "../testing/nats-serving.ts";

const CALLERS = 8;

/** Notes the calls that it executes. */
function noting(executed: bigint[]): Read {
  return async (message, context) => {
    executed.push(message.afterId);
    return await answer(message, context);
  };
}

test("a replica that drains leaves the queue group, and each call is executed once", async () => {
  const [leaving, staying]: [bigint[], bigint[]] = [[], []];
  const draining = new AbortController();
  await using setup = await serving(noting(leaving), { draining: draining.signal });
  await using _other = await setup.serve(noting(staying), {});

  let last = 0n;
  let isOver = false;
  const caller = async (): Promise<void> => {
    while (!isOver) {
      const afterId = (last += 1n);
      await setup.client.read({ ...request, afterId }, call({ commandId: COMMAND_ID, withinMs: 10_000 }));
    }
  };
  const callers = Promise.all(Array.from({ length: CALLERS }, caller));
  await waitFor(() => expect(Math.min(leaving.length, staying.length)).toBeGreaterThan(20));

  draining.abort();
  const atDrain = leaving.length;
  const after = staying.length + 200;
  await waitFor(() => expect(staying.length).toBeGreaterThan(after));
  // Only what the broker had sent it before it left.
  expect(leaving.length - atDrain).toBeLessThanOrEqual(CALLERS);
  isOver = true;
  await callers;

  const executed = [...leaving, ...staying].toSorted((a, b) => Number(a - b));
  expect(executed).toEqual(Array.from({ length: Number(last) }, (_, index) => BigInt(index + 1)));
  const found = [];
  for await (const info of await setup.clientBroker.connection.services.client().info(setup.service)) found.push(info);
  expect(found).toHaveLength(1);
});

test("a replica answers the calls that it has when it begins to drain, and its end of the group is expected", async () => {
  const { read, began, release } = heldHandler();
  const draining = new AbortController();
  await using setup = await serving(read, { draining: draining.signal });
  const held = setup.client.read(request, call({ withinMs: 20_000 }));
  await began;
  draining.abort();
  await expect(setup.served.stopped).resolves.toBeUndefined();
  release();
  expect((await held).lastNumber).toBe(request.afterNumber);
});

test("a replica that has to drain before it serves gets no call", async () => {
  const executed: bigint[] = [];
  const staying: bigint[] = [];
  await using setup = await serving(noting(executed), { draining: AbortSignal.abort() });
  await using _other = await setup.serve(noting(staying), {});
  await Promise.all(Array.from({ length: 40 }, () => setup.client.read(request, call())));
  expect([executed.length, staying.length]).toEqual([0, 40]);
});
