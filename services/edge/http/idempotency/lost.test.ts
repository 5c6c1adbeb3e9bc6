import { once } from "node:events";
import { expect, test } from "vitest";
import { waitFor } from "#test/support/wait-for.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import { BOOTSTRAP, serveFunding, startedEdge, edgeEnvironment } from "../../testing/test-process.ts";
import { aDeposit } from "../../api/samples/funding.ts";

const TIMEOUT = { timeout: 180_000 };
/** Longer than the time limit of a money command. */
const WAIT_MS = 15_000;

/** A funding service that does not answer the first deposit that it receives, and answers the following ones. */
function fundingWithoutFirstAnswer() {
  const received: string[] = [];
  const deposit = async (_request: unknown, { commandId, signal }: CallContext) => {
    received.push(commandId);
    if (received.length === 1) await once(signal, "abort");
    return aDeposit({ operationId: commandId });
  };
  return { received, deposit };
}

function send(url: string, key: string): Promise<Response> {
  const headers = { authorization: `Bearer ${BOOTSTRAP}`, "idempotency-key": key };
  return fetch(`${url}/api/v1/investor/deposit?login=1&amount=1`, { method: "POST", headers });
}

test("after an edge is killed while it waits for an answer, its key repeats the same command", TIMEOUT, async () => {
  const { env, natsUrl, database } = await edgeEnvironment();
  const { received, deposit } = fundingWithoutFirstAnswer();
  await serveFunding(natsUrl, deposit);
  const [first, second] = [await startedEdge(env), await startedEdge(env)];
  const lost = send(first.url, "key-1").catch(() => undefined);
  await waitFor(() => expect(received).toHaveLength(1), { timeout: WAIT_MS });
  first.child.kill("SIGKILL");
  await once(first.child, "close");
  expect(await lost).toBeUndefined();

  const early = await send(second.url, "key-1");
  expect([early.status, await early.json()]).toMatchObject([
    409,
    { code: "operation_in_progress", operation_id: received[0] },
  ]);
  const answer = await waitFor(
    async () => {
      const again = await send(second.url, "key-1");
      expect(again.status).toBe(200);
      return again;
    },
    { timeout: WAIT_MS, interval: 500 },
  );
  expect([answer.headers.get("x-operation-id"), answer.headers.get("idempotency-replayed")]).toEqual([
    received[0],
    "true",
  ]);
  expect(new Set(received).size).toBe(1);
  expect(await many(database.pool, sql`select status from idempotency_key`)).toEqual([{ status: "DONE" }]);
});
