import { execute, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { UnitPool } from "../domain/pool/unit-pool.ts";
import { readMarks, saveAccruals, savePositions } from "./pool-marks.ts";
import type { Master } from "./masters.ts";
import { changeHoldings, readUnitHoldings } from "./unit-holdings.ts";

/** The pool of a Master that this transaction has locked; so are the accounts of the Investors who get a part of a result. */
export async function lockUnitPool(tx: Transaction, master: Master): Promise<UnitPool> {
  const { login, suspenseAmount: amount, suspenseCarry: carry } = master;
  const holdings = await readUnitHoldings(tx, login);
  const marks = await readMarks(tx, login);
  return { holdings, suspense: { amount, carry }, ...marks };
}

/** Writes only the changes since the pool was locked. */
export async function saveUnitPool(
  tx: Transaction,
  masterLogin: string,
  before: UnitPool,
  after: UnitPool,
): Promise<void> {
  await changeHoldings(tx, before.holdings, after.holdings);
  await savePositions(tx, masterLogin, before, after);
  await saveAccruals(tx, masterLogin, before, after);
  if (before.suspense.amount === after.suspense.amount && before.suspense.carry === after.suspense.carry) return;
  await execute(
    tx,
    sql`update master_pool
        set suspense_minor = ${after.suspense.amount}, suspense_carry_e8 = ${after.suspense.carry}
        where login = ${masterLogin}`,
  );
}
