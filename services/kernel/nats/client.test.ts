import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { ReadRequest } from "#proto/pamm/common/v1/feed.ts";
import { startOwnNats } from "#test/support/nats.ts";
import {
  answer,
  call,
  contract,
  heldHandler,
  handlerUntilAborted,
  type Read,
  refusalOf,
  request,
  silent,
} from "../testing/calls.ts";
import { natsClient } from "./client.ts";
import { serving } from "../testing/nats-serving.ts";

test("a call to a service that does not listen is service_unavailable, and not executed", async () => {
  await using setup = await serving(answer);
  const absent = natsClient(setup.clientBroker, { service: "absent", contract, caller: "edge" });

  expect(await refusalOf(absent.read(request, call()))).toMatchObject({
    code: "service_unavailable",
    status: "unavailable",
    outcome: "not_executed",
    retryAfterMs: expect.any(Number),
  });
});

test("no answer in time is outcome_unknown, and the signal of the handler is aborted", async () => {
  const { read, aborted, release } = handlerUntilAborted();
  await using setup = await serving(read);

  expect(await refusalOf(setup.client.read(request, call({ withinMs: 1_000 })))).toMatchObject({
    code: "outcome_unknown",
    status: "unknown_outcome",
    outcome: "unknown",
  });
  await aborted;
  release();
});

test("a request of the largest size is sent, and one byte more is refused", async () => {
  await using setup = await serving(answer);
  const { max_payload: maxPayload = 0 } = setup.clientBroker.connection.info ?? {};
  const largest = maxPayload - 1_024;
  const sized = (bytes: number) => {
    // The length of a text of this size takes three bytes, its tag one.
    const sent = {
      ...request,
      feed: "x".repeat(bytes - ReadRequest.encode({ ...request, feed: "" }).finish().length - 4),
    };
    expect(ReadRequest.encode(sent).finish()).toHaveLength(bytes);
    return sent;
  };

  expect(await setup.client.read(sized(largest), call())).toEqual({ entries: [], lastNumber: request.afterNumber });
  expect(await refusalOf(setup.client.read(sized(largest + 1), call()))).toMatchObject({
    code: "request_too_large",
    outcome: "not_executed",
  });
});

test("a call in progress when its client is closed is outcome_unknown at once", async () => {
  const { read, began, release } = heldHandler();
  await using setup = await serving(read);
  const startedAt = performance.now();
  const running = refusalOf(setup.client.read(request, call({ withinMs: 60_000 })));
  await began;
  await setup.clientBroker.connection.close();

  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({ code: "service_unavailable" });
  release();
});

test("calls are refused at once while the broker is down, those in progress when it dies are outcome_unknown, later ones succeed", async () => {
  const { read, began, release } = heldHandler();
  await using broker = await startOwnNats();
  await using setup = await serving(read, broker);
  const running = refusalOf(setup.client.read(request, call({ withinMs: 3_000 })));
  await began;
  await broker.kill();
  release();
  await waitFor(() => expect(setup.clientBroker.isConnected()).toBe(false));

  const startedAt = performance.now();
  const refused = await refusalOf(setup.client.read(request, call({ withinMs: 60_000 })));
  expect(refused).toMatchObject({ code: "service_unavailable", outcome: "not_executed" });
  expect(performance.now() - startedAt).toBeLessThan(20_000);
  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });

  await broker.restart();
  await waitFor(async () => expect(await setup.client.read(request, call())).toBeDefined(), { interval: 50 });
});

test("an answer that is too large is a refusal of a call that was executed", async () => {
  const lines: string[] = [];
  const log = { ...silent, error: (message: string) => void lines.push(message) };
  const entry = { number: 1n, id: 1n, payload: Buffer.alloc(1_100_000), publishedAt: undefined, requestId: "" };
  const tooLarge: Read = async ({ feed }) => ({ entries: [{ ...entry, type: feed }], lastNumber: 1n });
  await using setup = await serving(tooLarge, { log });

  expect(await refusalOf(setup.client.read(request, call()))).toMatchObject({ code: "response_too_large" });
  expect(lines).toEqual(["response too large, a refusal was sent in its place"]);
});
