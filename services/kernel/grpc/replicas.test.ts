import { experimental } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { answer, call, contract, heldHandler, type Read, request, silent } from "../testing/calls.ts";
import { HOST } from "../testing/grpc-serving.ts";
import { permitAll, testIdentity } from "../testing/identity.ts";
import { Refusal } from "../values/refusal.ts";
import { grpcClient } from "./client.ts";
import { serveOverGrpc } from "./serve.ts";

const FRESH_FOR_MS = 100;
const NEVER = 3_600_000;

/** A replica that counts its calls. */
async function replica({ read = answer, port = 0 }: { read?: Read; port?: number } = {}) {
  let calls = 0;
  const counted: Read = (message, context) => {
    calls += 1;
    return read(message, context);
  };
  const services = [{ contract, implementation: { read: counted }, permissions: permitAll(contract) }] as const;
  const identity = await testIdentity("platform");
  const server = await serveOverGrpc({ host: HOST, port, services, identity, log: silent });
  return { port: server.port, calls: () => calls, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Stands in for a name server: the ports at which a service has replicas now. */
const ports = new Map<string, readonly number[]>();

class Names implements experimental.Resolver {
  readonly #name: string;
  readonly #listener: experimental.ResolverListener;

  constructor({ path }: { path: string }, listener: experimental.ResolverListener) {
    this.#name = path;
    this.#listener = listener;
  }

  static getDefaultAuthority({ path }: { path: string }): string {
    return path;
  }

  updateResolution(): void {
    const value = (ports.get(this.#name) ?? []).map((port) => ({ addresses: [{ host: HOST, port }] }));
    setImmediate(() => this.#listener({ ok: true, value }, {}, null, ""));
  }

  destroy(): void {}
}

experimental.registerResolver("names", Names);

async function clientOf(address: string, freshForMs?: number) {
  const identity = await testIdentity("funding");
  return grpcClient(address, { contract, service: "platform", identity, freshForMs });
}

/** Calls until the replica was called. */
async function reach(client: Awaited<ReturnType<typeof clientOf>>, { calls }: { calls: () => number }): Promise<void> {
  const before = calls();
  await waitFor(
    async () => {
      await client.read(request, call());
      expect(calls()).toBeGreaterThan(before);
    },
    { interval: 5 },
  );
}

test("the calls of a client are spread over the replicas", async () => {
  await using first = await replica();
  await using second = await replica();
  using client = await clientOf(`ipv4:${HOST}:${first.port},${HOST}:${second.port}`, NEVER);
  await reach(client, first);
  await reach(client, second);

  const before = [first.calls(), second.calls()] as const;
  for (let count = 0; count < 20; count += 1) await client.read(request, call());
  expect([first.calls() - before[0], second.calls() - before[1]]).toEqual([10, 10]);
});

test("a client goes on with the replicas that are left, and comes back to one that has started again", async () => {
  await using first = await replica();
  const second = await replica();
  using client = await clientOf(`ipv4:${HOST}:${first.port},${HOST}:${second.port}`, NEVER);
  await reach(client, second);
  await second[Symbol.asyncDispose]();
  for (let count = 0; count < 20; count += 1) await client.read(request, call());

  await using again = await replica({ port: second.port });
  await reach(client, again);
});

test("a replica whose address is withdrawn gets no more calls, and answers those that it has", async () => {
  const { read, began, release } = heldHandler();
  await using leaving = await replica({ read });
  ports.set("shrinking", [leaving.port]);
  using client = await clientOf("names:shrinking", FRESH_FOR_MS);
  const held = client.read(request, call({ withinMs: 20_000 }));
  await began;

  await using staying = await replica();
  ports.set("shrinking", [staying.port]);
  await waitFor(
    async () => {
      // Those that reach the replica that leaves are not answered in time.
      await client.read(request, call({ withinMs: 100 })).catch(() => undefined);
      expect(staying.calls()).toBeGreaterThan(0);
    },
    { interval: 20 },
  );
  const before = leaving.calls();
  for (let count = 0; count < 50; count += 1) await client.read(request, call());
  expect(leaving.calls()).toBe(before);

  release();
  expect((await held).lastNumber).toBe(request.afterNumber);
});

test("no call fails while replicas come and go, when each is withdrawn before it stops", async () => {
  const outcomes: Record<string, number> = {};
  let rolls = true;
  ports.set("rolling", []);
  let serving = [await replica(), await replica()];
  ports.set(
    "rolling",
    serving.map(({ port }) => port),
  );
  using client = await clientOf("names:rolling", FRESH_FOR_MS);
  const caller = async (): Promise<void> => {
    while (rolls) {
      const outcome = await client.read(request, call({ withinMs: 60_000 })).then(
        () => "ok",
        (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
      );
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  const callers = Array.from({ length: 8 }, caller);
  for (let round = 0; round < 3; round += 1) {
    const [oldest, ...others] = serving;
    serving = [...others, await replica()];
    ports.set(
      "rolling",
      serving.map(({ port }) => port),
    );
    await reach(client, serving.at(-1)!);
    // Its address is forgotten when many calls in a row reach the others.
    await waitFor(async () => {
      const [before, answered] = [oldest!.calls(), outcomes["ok"] ?? 0];
      await waitFor(() => expect(outcomes["ok"]).toBeGreaterThan(answered + 100));
      expect(oldest!.calls()).toBe(before);
    });
    await oldest![Symbol.asyncDispose]();
  }
  rolls = false;
  await Promise.all(callers);
  for (const left of serving) await left[Symbol.asyncDispose]();

  expect(Object.keys(outcomes)).toEqual(["ok"]);
  expect(outcomes["ok"]).toBeGreaterThan(100);
});

test("while no address of a new channel answers, calls stay on the earlier one", async () => {
  await using only = await replica();
  ports.set("wrong", [only.port]);
  using client = await clientOf("names:wrong", FRESH_FOR_MS);
  await reach(client, only);
  const stopped = await replica();
  await stopped[Symbol.asyncDispose]();
  ports.set("wrong", [stopped.port]);
  const until = Date.now() + 10 * FRESH_FOR_MS;
  while (Date.now() < until) await client.read(request, call());
});
