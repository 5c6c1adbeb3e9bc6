import { publishAll } from "#kernel/feed/publish.ts";
import type { Money } from "#kernel/money.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { AccountMoved } from "#proto/pamm/platform/v1/movement.ts";
import type { LogEntry, NewEntry } from "../../domain/log-entry.ts";
import { applyTrades } from "../../domain/open-positions.ts";
import type { Role } from "../../domain/role.ts";
import { type Account, insertAccount } from "../../store/accounts.ts";
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
  const entry: NewEntry = { kind: "opening", amount: opening, cause: undefined, deal: undefined, at, trade: undefined };
  const opened = await insertEntries(tx, server, [{ ...entry, login, role, number: 0n }]);
  await insertAccount(tx, { login, role, group, readsFrom, openingEntryId: opened[0]?.id ?? 0n, opening });
  publishEntries(tx, opened);
}

/** New entries of a log, and the request that caused them, if one did. */
export type Addition = { readonly server: string; readonly entries: readonly NewEntry[]; readonly requestId?: string };

/** Assigns log positions and publishes the entries. The account is locked, so the positions have no gaps. */
export async function appendToLog(tx: Transaction, account: Account, addition: Addition): Promise<void> {
  const { server, entries, requestId = "" } = addition;
  await appendToLogs(
    tx,
    server,
    entries.map((entry) => ({ account, entry, requestId })),
  );
}

export type LoggedFact = { readonly account: Account; readonly entry: NewEntry; readonly requestId: string };

/** Like appendToLog for several logins at once, each in the order of its entries. */
export async function appendToLogs(tx: Transaction, server: string, facts: readonly LoggedFact[]): Promise<void> {
  if (facts.length === 0) return;
  const ends = new Map<string, bigint>();
  const numbered = facts.map(({ account: { login, role, logNumber }, entry }) => {
    const number = (ends.get(login) ?? logNumber) + 1n;
    ends.set(login, number);
    return { ...entry, login, role, number };
  });
  const logged = await insertEntries(tx, server, numbered);
  for (const [login, entries] of Map.groupBy(logged, (entry) => entry.login)) await savePositions(tx, login, entries);
  publishEntries(
    tx,
    logged,
    facts.map(({ requestId }) => requestId),
  );
}

async function savePositions(tx: Transaction, login: string, entries: readonly NewEntry[]): Promise<void> {
  const trades = entries.flatMap(({ trade }) => trade ?? []);
  if (trades.length === 0) return;
  await saveOpenPositions(tx, login, applyTrades(await listOpenPositions(tx, login), trades));
}

function publishEntries(tx: Transaction, entries: readonly LogEntry[], requestIds: readonly string[] = []): void {
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
