import { setTimeout as sleep } from "node:timers/promises";
import { ErrorCode, headers } from "nats";
import { expect, test, vi } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { answer, call, COMMAND_ID, encoded, heldHandler, refusalOf, request, type Read } from "../testing/calls.ts";
import { createLog } from "../process/log.ts";
import { Refusal } from "../values/refusal.ts";
import { serving } from "../testing/nats-serving.ts";

test("a fault is logged once with its stack and answered without detail", async () => {
  const lines: string[] = [];
  const log = createLog({ service: "test", level: "error", to: { write: (line) => void lines.push(line) } });
  await using setup = await serving(() => Promise.reject(new Error("column planted does not exist")), { log });

  const query = await refusalOf(setup.client.read(request, call()));
  const command = await refusalOf(setup.client.read(request, call({ commandId: COMMAND_ID })));

  expect(query).toMatchObject({
    code: "internal",
    status: "internal",
    message: "Internal error.",
    outcome: undefined,
  });
  expect(command).toMatchObject({ code: "internal", outcome: "unknown" });
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain("column planted does not exist");
  expect(lines[1]).toContain("serve.test.ts");
  expect(lines[1]).toContain(`"command_id":"${COMMAND_ID}"`);
});

test("an invalid payload or header is refused as malformed", async () => {
  await using setup = await serving(answer);

  expect(await setup.callRaw(new Uint8Array([10, 200]))).toBe("malformed_request");
  for (const deadline of ["soon", "5"]) {
    expect(await setup.callRaw(encoded, { "pamm-deadline": deadline })).toBe("malformed_request");
  }
  expect(await setup.callRaw(encoded, { "pamm-command-id": "first" })).toBe("malformed_request");
  expect(await setup.callRaw(encoded, { "pamm-request-id": "x".repeat(201) })).toBe("malformed_request");
  expect(await setup.callRaw(encoded)).toBe("");
});

test("a call that names no inbox for its answer is neither executed nor answered", async () => {
  const read = vi.fn(answer);
  await using setup = await serving(read);
  const { connection } = setup.clientBroker;
  const answers: string[] = [];
  const elsewhere = `answers.${setup.service}`;
  connection.subscribe(elsewhere, { callback: (_error, message) => void answers.push(message.subject) });

  for (const options of [{}, { reply: elsewhere }, { reply: "$JS.ACK.STREAM.consumer.1.1.1.1.0" }]) {
    connection.publish(`pamm.v1.${setup.service}.Read`, encoded, options);
  }
  await connection.flush();
  await setup.client.read(request, call());

  expect(read).toHaveBeenCalledTimes(1);
  expect(answers).toEqual([]);
});

test("a call that its caller has given up long ago is not answered", async () => {
  await using setup = await serving(answer);
  const { connection } = setup.clientBroker;
  const subject = `pamm.v1.${setup.service}.Read`;
  const send = (deadlineMs: number, timeout: number): Promise<unknown> => {
    const sent = headers();
    sent.set("pamm-deadline", String(deadlineMs));
    return connection.request(subject, encoded, { headers: sent, timeout });
  };
  // Two seconds late: the clocks may differ.
  await expect(send(Date.now() - 2_000, 20_000)).resolves.toBeDefined();
  await expect(send(Date.now() - 8_000, 500)).rejects.toMatchObject({ code: ErrorCode.Timeout });
});

test("a call past its deadline is refused by the client and by the server", async () => {
  const read = vi.fn(answer);
  await using setup = await serving(read);
  const late = { ...call(), deadline: new Date(Date.now() - 1) };

  expect(await refusalOf(setup.client.read(request, late))).toMatchObject({
    code: "deadline_exceeded",
    status: "unavailable",
    outcome: "not_executed",
  });
  const aborted = call({ signal: AbortSignal.abort() });
  expect(await refusalOf(setup.client.read(request, aborted))).toMatchObject({ outcome: "not_executed" });
  expect(await setup.callRaw(encoded, { "pamm-deadline": String(Date.now() - 1) })).toBe("deadline_exceeded");
  expect(read).not.toHaveBeenCalled();
});

test("commands beyond the limit are refused as busy at once, while queries still pass", async () => {
  const release = Promise.withResolvers<void>();
  let begun = 0;
  await using setup = await serving(
    async (message, context) => {
      begun += 1;
      if (context.commandId !== "") await release.promise;
      return await answer(message, context);
    },
    { maxConcurrent: 2 },
  );
  const running = [1, 2].map(() => setup.client.read(request, call({ commandId: COMMAND_ID })));
  await waitFor(() => expect(begun).toBe(2));

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

test("a server that stops waits for the calls in progress and accepts no new ones", async () => {
  const { read, began, release } = heldHandler();
  await using setup = await serving(read);
  const running = setup.client.read(request, call({ withinMs: 60_000 }));
  await began;

  const stopped = setup.served[Symbol.asyncDispose]();
  // A request that arrives before the broker has processed the stop is held like the first; its caller times out.
  await waitFor(async () => {
    const refusal = await refusalOf(setup.client.read(request, call({ withinMs: 200 })));
    expect(refusal).toMatchObject({ code: "service_unavailable" });
  });
  expect(await Promise.race([stopped, sleep(250, "waits for the call")])).toBe("waits for the call");
  release();

  expect(await running).toEqual({ entries: [], lastNumber: request.afterNumber });
  await stopped;
});

test("a command is one info line with its ids, outcome and time, also when it is refused, and a query is a debug line", async () => {
  const lines: Record<string, unknown>[] = [];
  const to = { write: (text: string) => void lines.push(JSON.parse(text) as Record<string, unknown>) };
  const read: Read = (message, context) =>
    message.afterId === 2n ? Promise.reject(refusalNamed("account_busy")) : answer(message, context);
  await using setup = await serving(read, { log: createLog({ service: "test", level: "debug", to }) });
  const command = call({ commandId: COMMAND_ID, requestId: "r1" });

  await setup.client.read(request, command);
  await refusalOf(setup.client.read({ ...request, afterId: 2n }, command));
  await setup.client.read(request, call({ requestId: "r2" }));

  const of = { caller: "edge", method: "/pamm.common.v1.FeedService/Read", duration_ms: expect.any(Number) as number };
  const ids = { level: "info", request_id: "r1", operation_id: COMMAND_ID, msg: "command answered" };
  expect(lines).toMatchObject([
    { ...of, ...ids, outcome: "ok" },
    { ...of, ...ids, outcome: "account_busy" },
    { ...of, level: "debug", request_id: "r2", outcome: "ok", msg: "query answered" },
  ]);
  expect(lines[2]).not.toHaveProperty("operation_id");
});

function refusalNamed(code: string): Refusal {
  return new Refusal({ code, status: "conflict", message: "is busy" });
}
