import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { LeaveNumbers } from "../../domain/decide-leave.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Gate, openGate } from "../../store/gates.ts";
import { markDecided } from "../../store/leaves.ts";
import { lockMaster, type Master } from "../../store/masters.ts";
import { insertReserves } from "../../store/reserves.ts";
import { lockFlows } from "../../store/unit-pools.ts";
import { crystallise, type Crystallised, decideAmounts } from "./crystallise.ts";
import { leavePool } from "./leave-pool.ts";
import { type GatedLeave, type Leaving, lockLeaving, wakeAfterGate } from "./leaving.ts";

/**
 * Decides all leaves of a closed gate at their recorded log position, from facts that can no longer change: the account locks
 * keep the accounts, the gate keeps the pool, and fee returns the same fees. One commit records the amounts and reserves, and
 * opens the gate. Returns the amounts by key; none when the recovery job has taken the gate over, which calls this too.
 */
export async function decideSettled(
  deps: Deps,
  leaves: readonly GatedLeave[],
  gate: Gate,
  context: CallContext,
): Promise<ReadonlyMap<string, LeaveNumbers>> {
  const kinds = new Set(leaves.map(({ kind }) => kind));
  for (const kind of kinds) failpoint("after_settled_position", kind);
  const crystallised = await Promise.all(leaves.map((leave) => crystallise(deps, leave, context)));
  for (const kind of kinds) failpoint("after_crystallisation", kind);
  const decided = await inTransaction(deps.pool, async (tx) => {
    const master = await lockMaster(tx, gate.masterLogin);
    assert(master !== undefined, "a gate belongs to a Master");
    if (master.hasOpenGate || master.gateFence !== gate.fence) return new Map<string, LeaveNumbers>();
    const numbers = await carryOut(tx, deps, master, crystallised);
    wakeAfterGate(tx, deps, { ...master, ...(await openGate(tx, gate)) });
    return numbers;
  });
  for (const kind of kinds) failpoint("after_leave", kind);
  return decided;
}

async function carryOut(
  tx: Transaction,
  deps: Deps,
  master: Master,
  crystallised: readonly Crystallised<GatedLeave>[],
): Promise<ReadonlyMap<string, LeaveNumbers>> {
  const accounts = await lockAccounts(
    tx,
    crystallised.map(({ leave }) => leave.investorLogin),
  );
  const pool = await lockFlows(
    tx,
    master,
    crystallised.map(({ leave }) => leave.subscriptionId),
  );
  const books = await lockLeaving(tx, accounts, crystallised, ({ leave }) => leave);
  const decisions = await decideAmounts(
    tx,
    books.map(({ leave: { leave, due }, holding }) => ({ leave, due, pooled: holding.buckets.pooled })),
  );
  const at = deps.now();
  const leaving = books.flatMap(({ leave: { leave }, account, holding }, index): Leaving[] => {
    const decision = decisions[index];
    return decision === undefined ? [] : [{ leave, books: { account, holding }, decision }];
  });
  await leavePool(tx, deps, { master, pool, leaving, at });
  await insertReserves(
    tx,
    leaving.flatMap(({ leave, decision }) =>
      decision.reserves.map((reserve) => ({ ...reserve, subscriptionId: leave.subscriptionId, isOutside: false })),
    ),
    at,
  );
  const decided = leaving.map(({ leave, decision }) => ({ leave, numbers: decision.numbers }));
  assert.equal(await markDecided(tx, decided, at), decided.length, "a settled leave is decided once");
  return new Map(decided.map(({ leave, numbers }) => [leave.key, numbers]));
}
