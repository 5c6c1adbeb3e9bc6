import { execute, one, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { UnitPool } from "../domain/pool/unit-pool.ts";
import { readMarks, saveAccruals, savePositions } from "./pool-marks.ts";
import { changeHoldings, readUnitHoldings } from "./unit-holdings.ts";

/** The caller has locked the Master, and the accounts of the Investors who get a part of a result. */
export async function lockUnitPool(tx: Transaction, masterLogin: string): Promise<UnitPool> {
  const suspense = await one<UnitPool["suspense"]>(
    tx,
    sql`select suspense_minor as amount, suspense_carry_e8 as carry from master_pool where login = ${masterLogin}`,
  );
  const holdings = await readUnitHoldings(tx, masterLogin);
  const marks = await readMarks(tx, masterLogin);
  return { holdings, suspense, ...marks };
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
