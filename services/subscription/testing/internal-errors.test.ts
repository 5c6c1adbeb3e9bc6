import assert from "node:assert/strict";
import { expect, test } from "vitest";
import { createLog } from "#kernel/process/log.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { allocateMaster } from "../jobs/allocate-results.ts";
import { openLedger, strikeLedger } from "../processes/allocate/ledger.ts";
import type { Deps } from "../deps.ts";
import type { Mark } from "../domain/pool/strike-pool.ts";
import { lockMaster } from "../store/masters.ts";
import { expectBooksToReconcile } from "./books.ts";
import { decide, reviewWithReason } from "./reviews.ts";
import { inBucket, stopReasonOf } from "./ledger.ts";
import { deliver, settle, aPair, settleAndReconcile } from "./settle.ts";
import { LOT, trader } from "./trader.ts";
import { type World } from "./world.ts";

type LogLine = { readonly level: string; readonly error?: { readonly stack: string } } & Readonly<
  Record<string, unknown>
>;

/** The same dependencies with a log that the test can read. */
function logging({ deps }: World): { readonly deps: Deps; readonly faults: () => readonly LogLine[] } {
  const lines: LogLine[] = [];
  const to = { write: (line: string) => void lines.push(JSON.parse(line) as LogLine) };
  const log = createLog({ service: "subscription", level: "info", to });
  return { deps: { ...deps, log }, faults: () => lines.filter(({ error }) => error !== undefined) };
}

/** Operators see the error id only; the log has one error with this id, the Master, the deal and the stack. */
async function expectInternalError(world: World, faults: readonly LogLine[], fields: object): Promise<void> {
  const reason = await stopReasonOf(world);
  const [, errorId] = /^Internal error ([0-9a-f-]{36}); see the log\.$/.exec(reason ?? "") ?? [];
  expect(faults).toMatchObject([{ level: "error", error_id: errorId, ...fields, error: { type: "TypeError" } }]);
  expect(faults[0]?.error?.stack).toContain("internal-errors.test.ts");
  const review = await reviewWithReason(world, "stopped");
  expect(JSON.parse(review.evidence)).toMatchObject({ why: reason });
}

test("an internal error during an allocation stops the Master, and the results are allocated after a resume", async () => {
  const { world, masterLogin } = await aPair(500_00n);
  const { dealId: closing } = trader(world, masterLogin).result(10_00n);
  await deliver(world);
  const { deps, faults } = logging(world);
  const week = {
    ...deps.week,
    get periodMs(): number {
      throw new TypeError("planted");
    },
  };

  await allocateMaster({ ...deps, week }, masterLogin);

  // The first waiting deal is the one that opened the position.
  await expectInternalError(world, faults(), { login: masterLogin, ticket: String(closing - 1n) });
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([500_00n]);
  await decide(world, await reviewWithReason(world, "stopped"), "resume");
  await settleAndReconcile(world);
  expect(await inBucket(world, masterLogin, "pooled")).toEqual([510_00n]);
});

async function strikeAt({ pool, ...deps }: Deps, login: string, marks: readonly Mark[]): Promise<unknown> {
  return await inTransaction(pool, async (tx) => {
    const master = await lockMaster(tx, login);
    assert(master !== undefined);
    const scope = { through: master.filedNumber };
    const { ledger } = await openLedger(tx, { ...deps, pool }, master, scope);
    return await strikeLedger(tx, { ...deps, pool }, ledger, marks);
  });
}

test("an internal error in a strike stops the Master", async () => {
  const { world, masterLogin } = await aPair(500_00n);
  const { dealId } = trader(world, masterLogin).result(10_00n);
  await settle(world);
  const { deps, faults } = logging(world);
  const mark = {
    positionId: 1n,
    volume: LOT,
    get floating(): bigint {
      throw new TypeError("planted");
    },
  };

  expect(await strikeAt(deps, masterLogin, [mark])).toBeUndefined();

  await expectInternalError(world, faults(), { login: masterLogin, ticket: String(dealId) });
  await expectBooksToReconcile(world);
});
