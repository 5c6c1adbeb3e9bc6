import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { call, COMMAND_ID, heldHandler, handlerUntilAborted, refusalOf, request } from "../testing/calls.ts";
import { clientOf, HOST, serving } from "../testing/grpc-serving.ts";

test("no answer in time is outcome_unknown, and the signal of the handler is aborted", async () => {
  const { read, aborted, release } = handlerUntilAborted();
  await using setup = await serving(read);

  expect(await refusalOf(setup.client.read(request, call({ withinMs: 3_000 })))).toMatchObject({
    code: "outcome_unknown",
    status: "unknown_outcome",
    outcome: "unknown",
  });
  await aborted;
  release();
});

test("a cancelled call aborts the signal of the handler, and its outcome is unknown", async () => {
  const { read, began, aborted, release } = handlerUntilAborted();
  await using setup = await serving(read);
  const cancel = new AbortController();
  const running = refusalOf(setup.client.read(request, call({ signal: cancel.signal })));
  await began;
  cancel.abort();

  expect(await running).toMatchObject({ code: "outcome_unknown" });
  await aborted;
  release();
});

test("a call to a peer that does not listen is service_unavailable and not executed", async () => {
  const listener = createServer().listen(0, HOST);
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  using client = await clientOf(port);

  for (const _ of [1, 2, 3]) {
    expect(await refusalOf(client.read(request, call()))).toMatchObject({
      code: "service_unavailable",
      status: "unavailable",
      outcome: "not_executed",
    });
  }
  using nameless = await clientOf(1, "no-such-host.invalid");
  expect(await refusalOf(nameless.read(request, call()))).toMatchObject({ code: "service_unavailable" });
});

test("a call whose connection is lost is outcome_unknown", async () => {
  const { read, began, release } = heldHandler();
  await using setup = await serving(read);
  const proxy = await cuttingProxy(setup.served.port);
  using client = await clientOf(proxy.port);

  const running = refusalOf(client.read(request, call({ commandId: COMMAND_ID })));
  await began;
  proxy.cut();

  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  release();
});

/** Forwards bytes until all connections are dropped. */
async function cuttingProxy(target: number): Promise<{ port: number; cut: () => void }> {
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
