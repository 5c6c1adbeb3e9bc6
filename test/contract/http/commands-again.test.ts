import { beforeAll, expect, test } from "vitest";
import { DAY_MS } from "#kernel/values/duration.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { execute, sql } from "#kernel/postgres/query.ts";
import { createIdempotencyStore } from "../../../services/edge/http/idempotency/idempotency-store.ts";
import {
  aCaller,
  type Answer,
  type EdgeOf,
  logTo,
  testApp,
  type TestEdge,
} from "../../../services/edge/testing/test-edge.ts";
import { testDatabase } from "../../support/database.ts";
import { type Command, COMMANDS } from "./commands.ts";

let pool: Pool;
/** Two processes on one database. Each API key is a separate client. */
let before: EdgeOf;
let after: EdgeOf;

beforeAll(async () => {
  ({ pool } = await testDatabase("edge"));
  [before, after] = [await newProcess(), await newProcess()];
});

async function newProcess(): Promise<EdgeOf> {
  const idempotency = createIdempotencyStore(pool, { now: () => new Date(), log: logTo([]), keptMs: 30 * DAY_MS });
  return await testApp({ idempotency, authenticate: async (key) => ({ ...aCaller(), clientId: key }) });
}

async function send(
  edge: TestEdge,
  { method, url, body, operationId }: Command,
  apiKey = "KeyOfTheCrm1",
): Promise<Answer> {
  const headers = { authorization: `Bearer ${apiKey}`, "idempotency-key": operationId };
  return await edge.call({ method, url, headers, ...(body === undefined ? {} : { payload: body }) });
}

const resultOf = ({ status, text, headers }: Answer) => [status, text, headers["x-operation-id"]];
const isReplayed = ({ headers }: Answer) => headers["idempotency-replayed"] === "true";

test.for(COMMANDS)(
  "$operationId repeated with its key has the same answer and operation, even after a crash",
  async (one) => {
    const first = await send(before(one.services), one);
    expect([first.status, isReplayed(first)]).toEqual([200, false]);

    const restarted = after(one.services);
    const again = await send(restarted, one);
    expect([resultOf(again), isReplayed(again)]).toEqual([resultOf(first), true]);

    // The edge crashed after the command was executed and before its outcome was recorded.
    await execute(
      pool,
      sql`update idempotency_key set status = 'IN_PROGRESS', busy_until = ${new Date()} where key = ${one.operationId}`,
    );
    const afterCrash = await send(restarted, one);
    expect([resultOf(afterCrash), isReplayed(afterCrash)]).toEqual([resultOf(first), true]);
    expect(new Set(restarted.calls.map(({ context }) => context.commandId)).size).toBe(1);

    const ofOtherClient = await send(restarted, one, "KeyOfTheBank");
    expect([ofOtherClient.status, isReplayed(ofOtherClient)]).toEqual([200, false]);
    expect(ofOtherClient.headers["x-operation-id"]).not.toBe(first.headers["x-operation-id"]);
  },
);
