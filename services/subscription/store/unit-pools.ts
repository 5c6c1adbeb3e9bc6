import type { Transaction } from "#kernel/postgres/transaction.ts";
import { withOthers } from "../domain/pool/others.ts";
import type { UnitPool } from "../domain/pool/unit-pool.ts";
import { readMarks, saveAccruals, savePositions } from "./pool-marks.ts";
import type { Master } from "./masters.ts";
import { changeHoldings, lockHoldingsWithFlows, readUnitHoldings, saveOwnCapital } from "./unit-holdings.ts";

/** The pool of a Master that this transaction has locked; so are the accounts of the Investors who get a part of a result. */
export async function lockUnitPool(tx: Transaction, master: Master): Promise<UnitPool> {
  const { login, own } = master;
  const holdings = await readUnitHoldings(tx, login);
  const marks = await readMarks(tx, login);
  return { holdings, own, ...marks };
}

/**
 * The pool as `lockUnitPool` loads it. Of a flat one, whose next change is a strike of its flows, only the holdings with flows and these ones,
 * and the others in sum: the strike throws WholePoolNeeded when it concerns them too.
 */
export async function lockFlows(
  tx: Transaction,
  master: Master,
  subscriptionIds: readonly bigint[],
): Promise<UnitPool> {
  const { login, own, sums } = master;
  const marks = await readMarks(tx, login);
  const holdings =
    marks.positions.length > 0 ? undefined : withOthers(await lockHoldingsWithFlows(tx, login, subscriptionIds), sums);
  return { holdings: holdings ?? (await readUnitHoldings(tx, login)), own, ...marks };
}

/** Writes only the changes since the pool was locked. */
export async function saveUnitPool(
  tx: Transaction,
  masterLogin: string,
  before: UnitPool,
  after: UnitPool,
): Promise<void> {
  await changeHoldings(tx, masterLogin, before.holdings, after.holdings);
  await savePositions(tx, masterLogin, before, after);
  await saveAccruals(tx, masterLogin, before, after);
  await saveOwnCapital(tx, masterLogin, before.own, after.own);
}
