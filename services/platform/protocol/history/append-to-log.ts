import { publishAll } from "#kernel/feed/publish.ts";
import { type Money, zero } from "#kernel/values/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { AccountMoved } from "#proto/pamm/platform/v1/movement.ts";
import type { LogEntry, NewEntry } from "../../domain/log-entry.ts";
import { applyTrades } from "../../domain/open-positions.ts";
import type { Role } from "../../domain/role.ts";
import { type Account, insertAccount, readAgainFrom } from "../../store/accounts.ts";
import { readClock } from "../../store/clock.ts";
import { insertEntries } from "../../store/log.ts";
import { listOpenPositions, saveOpenPositions } from "../../store/positions.ts";
import { MOVEMENTS_FEED, accountMoved, subjectOfMovement } from "./account-moved.ts";

export type NewLog = {
  readonly login: string;
  readonly role: Role;
  readonly group: string;
  readonly server: string;
  readonly opening: Money;
  readonly openedAt: Date;
  readonly readsFrom: Date;
};

/** Creates the account with entry 0, its opening balance: since then the balance is the sum of the log. */
export async function openLog(tx: Transaction, log: NewLog): Promise<void> {
  const { login, role, group, server, opening, openedAt: at, readsFrom } = log;
  const entry: NewEntry = { kind: "opening", amount: opening, at };
  const opened = await insertEntries(tx, server, [{ ...entry, login, role, number: 0n }]);
  await insertAccount(tx, { login, role, group, readsFrom, openingEntryId: opened[0]?.id ?? 0n, opening });
  publishEntries(tx, opened);
}

/** This service has created the account without money, so its whole history belongs into the log. */
const SINCE_EVER = new Date(0);

/**
 * Opens the log of an account that this service has created and that may have deals already, because the database has lost its records.
 * Each read of it begins with its first deal until its history is in the log: deposits and withdrawals of the lost time are imported,
 * and callers who repeat them are refused. Meanwhile it is busy.
 */
export async function openOwnLog(
  tx: Transaction,
  server: string,
  account: Pick<NewLog, "login" | "role" | "group">,
): Promise<void> {
  const openedAt = new Date(await readClock(tx));
  await openLog(tx, { ...account, server, opening: zero(), openedAt, readsFrom: SINCE_EVER });
  await readAgainFrom(tx, account.login, SINCE_EVER);
}

/** A new entry of the log of a locked account, and the request that caused it, if one did. */
export type Addition = { readonly account: Account; readonly entry: NewEntry; readonly requestId?: string };

/** Appends entries to one log, as `appendToLogs` does. */
export async function appendToLog(
  tx: Transaction,
  account: Account,
  {
    server,
    entries,
    requestId = "",
  }: { readonly server: string; readonly entries: readonly NewEntry[]; readonly requestId?: string },
): Promise<void> {
  await appendToLogs(
    tx,
    server,
    entries.map((entry) => ({ account, entry, requestId })),
  );
}

/** Assigns log positions and publishes the entries. The accounts are locked, so the positions of each log have no gaps. */
export async function appendToLogs(tx: Transaction, server: string, additions: readonly Addition[]): Promise<void> {
  if (additions.length === 0) return;
  const ends = new Map(additions.map(({ account }) => [account.login, account.logNumber]));
  const numbered = additions.map(({ account: { login, role }, entry }) => {
    const number = (ends.get(login) ?? 0n) + 1n;
    ends.set(login, number);
    return { ...entry, login, role, number };
  });
  const logged = await insertEntries(tx, server, numbered);
  for (const [login, own] of Map.groupBy(logged, (entry) => entry.login)) await savePositions(tx, login, own);
  publishEntries(
    tx,
    logged,
    additions.map(({ requestId = "" }) => requestId),
  );
}

async function savePositions(tx: Transaction, login: string, entries: readonly NewEntry[]): Promise<void> {
  const trades = entries.flatMap(({ trade }) => trade ?? []);
  if (trades.length === 0) return;
  await saveOpenPositions(tx, login, applyTrades(await listOpenPositions(tx, login), trades));
}

/** Publishes entries that are in their logs now, with the requests that caused them. */
export function publishEntries(
  tx: Transaction,
  entries: readonly LogEntry[],
  requestIds: readonly string[] = [],
): void {
  publishAll(
    tx,
    entries.map((entry, index) => ({
      feed: MOVEMENTS_FEED,
      event: AccountMoved,
      message: accountMoved(entry),
      subject: subjectOfMovement(entry.login),
      requestId: requestIds[index],
    })),
  );
}
