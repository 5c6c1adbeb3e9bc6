import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { textOf } from "../../../deploy/demo/exact-json.ts";
import { type Client, dealsOf, eventually, minorOf, type Reply } from "./client.ts";
import { type Pool, closePosition, openPosition, pooled } from "./trading.ts";

/** Commands that wait until their Masters are flat, while versions of the services come and go that know no queue. */
export type Queued = {
  /** The first Master is flat while both versions run: its commands are executed once. */
  readonly expectExecuted: (client: Client) => Promise<void>;
  /** The second Master is flat while the release runs alone: it leaves them alone, and a repeated withdrawal is executed by it, once. */
  readonly expectLeft: (release: Client) => Promise<void>;
};

type Waiting = {
  readonly pool: Pool;
  readonly position: string;
  readonly withdrawal: string;
  readonly unassign: string;
};

const KEY = randomUUID();
/** The last release would have begun a try by then, as the present version does after a second. */
const LEFT_ALONE_MS = 2_500;
const EXECUTED_MS = 60_000;
const IN = "1000";
const OUT = "-150";

export async function queueCommands(client: Client): Promise<Queued> {
  const [first, second] = [await aWaiting(client, randomUUID()), await aWaiting(client, KEY)];
  return {
    async expectExecuted(both) {
      await closePosition(both, first.position);
      for (const id of [first.withdrawal, first.unassign]) await untilOutcome(both, id, "executed");
      await expectDeals(both, first.pool, [[OUT], []]);
    },
    async expectLeft(release) {
      await closePosition(release, second.position);
      await sleep(LEFT_ALONE_MS);
      for (const id of [second.withdrawal, second.unassign]) await untilOutcome(release, id, "pending");
      await expectDeals(release, second.pool, [[], []]);

      const [investor = ""] = second.pool.investors;
      const repeated = () => withdrawOnce(release, investor, KEY);
      await eventually(async () => expect((await repeated()).status).toBe(200), EXECUTED_MS);
      await untilOutcome(release, second.withdrawal, "executed");
      await expectDeals(release, second.pool, [[OUT], []]);
      await untilOutcome(release, second.unassign, "pending");
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
