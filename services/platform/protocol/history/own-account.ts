import { zero } from "#kernel/values/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { Role } from "../../domain/role.ts";
import { readAgainFrom } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { openLog } from "./append-to-log.ts";

/** This service has created the account without money, so its whole history belongs into the log. */
const SINCE_EVER = new Date(0);

type OwnAccount = { readonly login: string; readonly role: Role; readonly group: string };

/**
 * Opens the log of an account that this service has created and that may have deals already, because the database has lost its records.
 * Each read of it begins with its first deal until its history is in the log: deposits and withdrawals of the lost time are imported,
 * and callers who repeat them are refused. Meanwhile it is busy.
 */
export async function openOwnLog(tx: Transaction, server: string, account: OwnAccount): Promise<void> {
  const openedAt = new Date(await readClock(tx));
  await openLog(tx, { ...account, server, opening: zero(), openedAt, readsFrom: SINCE_EVER });
  await readAgainFrom(tx, account.login, SINCE_EVER);
}
