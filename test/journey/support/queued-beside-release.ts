import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, type Reply } from "./client.ts";
import { type Pool, closePosition, openPosition, pooled } from "./trading.ts";

/** Commands that wait until their Masters are flat, while versions of the services come and go that know no queue. */
export type Queued = {
  /**
   * Both versions run. The client repeats a withdrawal that waits, at whichever of them; it waits on, and is executed once, as the unassign is, when the first
   * Master is flat.
   */
  readonly expectExecuted: (client: Client) => Promise<void>;
  /** The release runs alone: it leaves the commands alone, also when the second Master is flat. */
  readonly expectLeft: (release: Client) => Promise<void>;
};

type Waiting = {
  readonly pool: Pool;
  readonly position: string;
  readonly withdrawal: string;
  readonly unassign: string;
};

const KEY = randomUUID();
const REPETITIONS = 8;
/** The present version begins a try within a second. */
const LEFT_ALONE_MS = 2_500;
const EXECUTED_MS = 60_000;
const IN = "1000";
const OUT = "-150";

export async function queueCommands(client: Client): Promise<Queued> {
  const [first, second] = await Promise.all([aWaiting(client, KEY), aWaiting(client, randomUUID())]);
  return {
    async expectExecuted(release) {
      const [investor = ""] = first.pool.investors;
      for (let n = 0; n < REPETITIONS; n += 1) {
        const { status, body, text } = await withdrawOnce(client, investor, KEY);
        // A replica of the release does not know the outcome, so the edge answers that the first request is in progress.
        expect(["202 ", "409 operation_in_progress"], text).toContain(
          `${status} ${textOf({ code: "", ...body }, "code")}`,
        );
      }
      await untilOutcome(release, first.withdrawal, "pending");
      await closePosition(release, first.position);
      for (const id of [first.withdrawal, first.unassign]) await untilOutcome(release, id, "executed");
      await expectDeals(release, first.pool, [[OUT], []]);
    },
    async expectLeft(release) {
      await closePosition(release, second.position);
      await sleep(LEFT_ALONE_MS);
      for (const id of [second.withdrawal, second.unassign]) await untilOutcome(release, id, "pending");
      await expectDeals(release, second.pool, [[], []]);
    },
  };
}

/** A Master with an open position, an Investor whose withdrawal waits, and one whose unassign does. */
async function aWaiting(client: Client, key: string): Promise<Waiting> {
  const pool = await pooled(client, [IN, IN]);
  const position = await openPosition(client, pool.login);
  const [one = "", other = ""] = pool.investors;
  const leave = `/api/v1/subscriptions/unassign?master_login=${pool.login}&investor_login=${other}&on_blocked=queue`;
  const withdrawal = await withdrawOnce(client, one, key);
  const unassign = await client.post(leave);
  return { pool, position, withdrawal: operationOf(withdrawal), unassign: operationOf(unassign) };
}

function withdrawOnce({ send }: Client, login: string, key: string): Promise<Reply> {
  const headers = { "idempotency-key": key };
  return send(`/api/v1/investor/withdraw?login=${login}&amount=150&on_blocked=queue`, { method: "POST", headers });
}

function operationOf({ status, text, headers }: Reply): string {
  expect(status, text).toBe(202);
  return headers.get("x-operation-id") ?? "";
}

async function untilOutcome(client: Client, id: string, outcome: string): Promise<void> {
  await eventually(async () => {
    const { body, text } = await client.get(`/api/v1/operations/${id}`);
    expect(textOf({ outcome: "", ...body }, "outcome"), text).toBe(outcome);
  }, EXECUTED_MS);
}

/** The Investors have these deals after their deposits, and the result of the position, which is a loss of its spread or nothing. */
async function expectDeals(client: Client, { investors }: Pool, after: readonly (readonly string[])[]): Promise<void> {
  for (const [index, login] of investors.entries()) {
    const moved = (await dealsOf(client, login)).map(({ minor }) => minor);
    const large = moved.filter((minor) => minor <= -minorOf("50") || minor >= minorOf("50"));
    expect(large).toEqual([IN, ...(after[index] ?? [])].map(minorOf));
  }
}
