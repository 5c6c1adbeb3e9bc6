import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failpoint } from "#kernel/failpoint.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import type { DueFee } from "../../domain/decide-leave.ts";
import { lockAccounts } from "../../store/books.ts";
import { type Gate, lockGate, openGate } from "../../store/gates.ts";
import { markDecided } from "../../store/leaves.ts";
import { lockMaster } from "../../store/masters.ts";
import { insertReserves } from "../../store/reserves.ts";
import { lockHoldings } from "../../store/holdings.ts";
import { lockUnitPool } from "../../store/unit-pools.ts";
import { crystallise, decideAmounts } from "./crystallise.ts";
import { type GatedLeave, type Leaving, wakeAfterGate } from "./leaving.ts";
import { exitPool, reserveInPool } from "./exit-pool.ts";

/**
 * Decides at the recorded log position, from facts that can no longer change: the account lock keeps the account, the gate
 * keeps the pool, and fee returns the same fees. One commit records the amounts and reserves, and opens the gate. The
 * recovery job calls it too.
 */
export async function decideSettled(deps: Deps, leave: GatedLeave, gate: Gate, context: CallContext): Promise<void> {
  failpoint("after_settled_position", leave.kind);
  const due = await crystallise(deps, leave, context);
  failpoint("after_crystallisation", leave.kind);
  await inTransaction(deps.pool, async (tx) => {
    // The recovery job has taken the gate over and decides.
    if (!(await lockGate(tx, gate))) return;
    await carryOut(tx, deps, leave, due);
    await openGate(tx, gate);
    wakeAfterGate(tx, deps);
  });
  failpoint("after_leave", leave.kind);
}

async function carryOut(tx: Transaction, deps: Deps, leave: GatedLeave, due: readonly DueFee[]): Promise<void> {
  const { masterLogin, kind } = leave;
  assert((await lockMaster(tx, masterLogin)) !== undefined, "a gate belongs to a Master");
  const [account] = await lockAccounts(tx, [leave.investorLogin]);
  const pool = await lockUnitPool(tx, masterLogin);
  const [holding] = await lockHoldings(tx, [leave.subscriptionId]);
  assert(account !== undefined && holding !== undefined, "an Investor that leaves a pool has a holding");
  const books = { account, holding };
  const decision = await decideAmounts(tx, leave, holding.buckets.pooled, due);
  const at = deps.now();
  const leaving: Leaving = { leave, books, decision, at };
  if (kind === "EXIT") await exitPool(tx, deps, leaving, pool);
  else await reserveInPool(tx, leaving, pool);
  await insertReserves(tx, leave.subscriptionId, decision.reserves, at);
  assert(await markDecided(tx, leave, decision.numbers, at), "a settled leave is decided once");
}
