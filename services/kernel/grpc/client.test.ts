import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, test, vi } from "vitest";
import {
  answer,
  call,
  COMMAND_ID,
  contract,
  heldHandler,
  handlerUntilAborted,
  refusalOf,
  request,
  silent,
} from "../testing/calls.ts";
import { grpcClient } from "./client.ts";
import { serveOverGrpc } from "./serve.ts";
import { HOST, serving } from "../testing/grpc-serving.ts";

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

test("a cancelled call aborts the signal of the handler, and its outcome is unknown", async () => {
  const { read, began, aborted, release } = handlerUntilAborted();
  await using setup = await serving(read);
  const hangUp = new AbortController();
  const running = refusalOf(setup.client.read(request, call({ signal: hangUp.signal })));
  await began;
  hangUp.abort();

  expect(await running).toMatchObject({ code: "outcome_unknown" });
  await aborted;
  release();
});

test("a deadline that has passed, or a caller that hung up before, sends nothing", async () => {
  const read = vi.fn(answer);
  await using setup = await serving(read);

  const late = { ...call(), deadline: new Date(Date.now() - 1) };
  expect(await refusalOf(setup.client.read(request, late))).toMatchObject({
    code: "deadline_exceeded",
    outcome: "not_executed",
  });
  const gone = call({ signal: AbortSignal.abort() });
  expect(await refusalOf(setup.client.read(request, gone))).toMatchObject({ outcome: "not_executed" });
  expect(read).not.toHaveBeenCalled();
});

test("a peer that is not there is service_unavailable: surely not executed", async () => {
  const listener = createServer().listen(0, HOST);
  await new Promise((resolve) => listener.once("listening", resolve));
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  using client = grpcClient(`${HOST}:${port}`, { contract, caller: "funding" });

  for (const _ of [1, 2, 3]) {
    expect(await refusalOf(client.read(request, call()))).toMatchObject({
      code: "service_unavailable",
      status: "unavailable",
      outcome: "not_executed",
    });
  }
  using nameless = grpcClient("no-such-host.invalid:1", { contract, caller: "funding" });
  expect(await refusalOf(nameless.read(request, call()))).toMatchObject({ code: "service_unavailable" });
});

test("a connection that dies under a call is outcome_unknown", async () => {
  const { read, began, release } = heldHandler();
  await using setup = await serving(read);
  const proxy = await cuttingProxy(setup.served.port);
  using client = grpcClient(`${HOST}:${proxy.port}`, { contract, caller: "funding" });

  const running = refusalOf(client.read(request, call({ commandId: COMMAND_ID })));
  await began;
  proxy.cut();

  expect(await running).toMatchObject({ code: "outcome_unknown", outcome: "unknown" });
  release();
});

test("a peer that comes back is found again within about a second", async () => {
  const first = await serving(answer);
  const { port } = first.served;
  using client = grpcClient(`${HOST}:${port}`, { contract, caller: "funding" });
  await client.read(request, call());
  await first[Symbol.asyncDispose]();
  await refusalOf(client.read(request, call()));

  const services = [{ contract, implementation: { read: answer } }] as const;
  await using _second = await serveOverGrpc({ host: HOST, port, services, log: silent });
  await vi.waitFor(async () => expect((await client.read(request, call())).lastNumber).toBe(request.afterNumber), {
    timeout: 5_000,
    interval: 50,
  });
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
