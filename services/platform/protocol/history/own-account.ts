import { zero } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Role } from "../../domain/role.ts";
import { readClock } from "../../store/clock.ts";
import { insertReading } from "../../store/history-readings.ts";
import { openLog } from "./append-to-log.ts";

/** This service has created the account without money, so its whole history belongs into the log. */
const SINCE_EVER = new Date(0);

type OwnAccount = { readonly login: string; readonly role: Role; readonly group: string };

/**
 * Opens the log of an account that this service has created and that may have deals already, because the database has lost its records.
 * Its history is read as a whole: deposits and withdrawals of the lost time are imported, and callers who repeat them are refused.
 */
export async function openOwnLog(tx: Transaction, server: string, account: OwnAccount): Promise<void> {
  const openedAt = new Date(await readClock(tx));
  await openLog(tx, { ...account, server, opening: zero(), openedAt, readsFrom: SINCE_EVER });
  const { login } = account;
  await insertReading(tx, { login, from: SINCE_EVER, until: openedAt, requestedBy: "platform", logNumber: 0n });
}
