import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import { OperationOutcome } from "#proto/pamm/funding/v1/funding.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import { callContext } from "#kernel/contract/context.ts";
import { TEST_KEY, testEdge } from "../testing/test-edge.ts";
import { anOperation } from "../api/samples/funding.ts";
import { aProof, aSubscription } from "../api/samples/subscription.ts";
import { cents } from "../api/samples/values.ts";
import { Refusal } from "#kernel/values/refusal.ts";
import { createLongPoll } from "./long-poll.ts";

const ID = "0198c0de-0000-7000-8000-000000000001";
const notFound = () => Promise.reject(new Refusal({ code: "operation_not_found", status: "not_found", message: "no" }));
const pending = anOperation({ outcome: OperationOutcome.PENDING });

/** An edge whose operation is final at the third read. */
async function slowEdge() {
  let reads = 0;
  const getOperation = async () => ((reads += 1) < 3 ? pending : anOperation());
  const edge = await testEdge({ funding: { getOperation }, subscriptions: { getOperation: notFound } });
  return { edge, reads: () => reads };
}

test.concurrent("a request without wait is answered at once", async () => {
  const { edge, reads } = await slowEdge();

  expect((await edge.call({ url: `/api/v1/operations/${ID}` })).body).toMatchObject({ outcome: "pending" });
  expect(reads()).toBe(1);
});

test.concurrent("a request with wait is answered as soon as the outcome is final", async () => {
  const { edge, reads } = await slowEdge();

  expect((await edge.call({ url: `/api/v1/operations/${ID}?wait=30` })).body).toMatchObject({ outcome: "executed" });
  expect(reads()).toBe(3);
});

test.concurrent("at the end of the wait the last state is returned, also beyond the usual time limit of the route", async () => {
  const edge = await testEdge({
    funding: { getOperation: async () => pending },
    subscriptions: { getOperation: notFound },
  });
  const startedAt = performance.now();
  const answer = await edge.call({ url: `/api/v1/operations/${ID}?wait=6` });

  expect(answer).toMatchObject({ status: 200, body: { outcome: "pending" } });
  expect(performance.now() - startedAt).toBeGreaterThan(5_900);
});

test.concurrent("a proof is waited for until it has converged", async () => {
  let reads = 0;
  const { call } = await testEdge({
    subscriptions: { getProof: async () => aProof({ converged: (reads += 1) === 3 }) },
  });
  expect((await call({ url: "/api/v1/info/master/3000001/proof?wait=20" })).body).toMatchObject({ converged: true });
  expect(reads).toBe(3);
});

test.concurrent("a list waits until none of its subscriptions is PAUSED", async () => {
  let reads = 0;
  const edge = await testEdge({
    subscriptions: {
      async listSubscriptions({ status, masterLogin }) {
        expect(masterLogin).toBe("3000001");
        if (status !== SubscriptionStatus.PAUSED) return { items: [aSubscription()], hasMore: false };
        reads += 1;
        return { items: reads < 3 ? [aSubscription({ status })] : [], hasMore: false };
      },
    },
  });
  const url = "/api/v1/info/subscriptions?master_login=3000001";

  expect((await edge.call({ url: `${url}&wait=30` })).body).toMatchObject([{ status: "ACTIVE" }]);
  expect(reads).toBe(3);
  expect((await edge.call({ url: `${url}&status=ACTIVE&wait=30` })).status).toBe(200);
  expect(reads).toBe(3);
});

test.concurrent("a request with wait returns a balance once it can be read, and an unknown login at once", async () => {
  let reads = 0;
  const edge = await testEdge({
    funding: {
      async getBalance({ login }) {
        if (login === "77") return { login, balance: undefined, error: "the login is not known", isUnknown: true };
        reads += 1;
        return reads < 3
          ? { login, balance: undefined, error: "unavailable", isUnknown: false }
          : { login, balance: cents(1n), error: "", isUnknown: false };
      },
    },
  });

  expect((await edge.call({ url: "/api/v1/info/balance/1?wait=30" })).body).toMatchObject({ ok: true, balance: 0.01 });
  expect((await edge.call({ url: "/api/v1/info/balance/77?wait=30" })).body).toMatchObject({
    error: "the login is not known",
  });
});

test("reading stops when the caller disconnects", async () => {
  const { edge, reads } = await edgeWithPendingOperation();
  await edge.app.listen({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => edge.app.close());
  const { port } = edge.app.server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const call = request({ port, path: `/api/v1/operations/${ID}?wait=30`, headers }).end();
  call.on("error", () => {});
  await waitFor(() => expect(reads()).toBeGreaterThan(1));
  call.socket?.resetAndDestroy();

  await waitFor(() => expect(edge.lines.join("")).toContain('"status":499'));
  const readsBefore = reads();
  await edge.app.close();
  expect(reads()).toBeLessThanOrEqual(readsBefore + 1);
});

test("an edge that stops answers waiting requests with the last state", async () => {
  const { edge, reads } = await edgeWithPendingOperation();
  const startedAt = performance.now();
  const waiting = edge.call({ url: `/api/v1/operations/${ID}?wait=30` });
  await waitFor(() => expect(reads()).toBeGreaterThan(1));
  await edge.app.close();

  expect(await waiting).toMatchObject({ status: 200, body: { outcome: "pending" } });
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});

async function edgeWithPendingOperation() {
  let reads = 0;
  const getOperation = async () => {
    reads += 1;
    return pending;
  };
  return {
    edge: await testEdge({ funding: { getOperation }, subscriptions: { getOperation: notFound }, app: {} }),
    reads: () => reads,
  };
}

test("the number of waiting requests is limited", async () => {
  const longPoll = createLongPoll();
  const disconnect = new AbortController();
  const pollOf = (clientId: string) =>
    longPoll.open({
      clientId,
      seconds: 30,
      receivedAt: Date.now(),
      hasLeft: () => disconnect.signal.aborted,
      contextOfRead: () => callContext({ caller: "test", withinMs: 9 }),
    });
  const neverTrue = async () => false;
  const waiting = Array.from({ length: 128 }, (_, index) => pollOf(`client-${index % 2}`).until(neverTrue, Boolean));
  const further = pollOf("anna");
  await expect(further.until(neverTrue, Boolean)).rejects.toMatchObject({ code: "service_unavailable" });
  expect(await further.until(async () => true, Boolean)).toBe(true);

  disconnect.abort();
  expect(await Promise.all(waiting)).toEqual(Array(128).fill(false));
  expect(await further.until(neverTrue, Boolean)).toBe(false);
});
