import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Reason } from "#catalogue/reviews.ts";
import type { Deps } from "../../deps.ts";
import type { NewEntry } from "../../domain/log-entry.ts";
import { accepts } from "../../domain/leg-machine.ts";
import { type Deal, effectOf } from "../../mt5/deals.ts";
import { type Account, lockAccounts, lockFreeAccounts, setUndecidedFrom } from "../../store/accounts.ts";
import { isBooked, listDealRecords } from "../../store/deal-records.ts";
import { requireDatabase } from "../../store/database-identity.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";
import { readReference } from "../../domain/reference.ts";
import { recordTransition } from "../record.ts";
import { reportFinding } from "../reviews/report-finding.ts";
import { stopForLostCommits } from "../reviews/stop-for-lost-commits.ts";
import { type Addition, appendToLogs } from "./append-to-log.ts";
import { importDeal, publishImport } from "./import-deal.ts";
import { causeOf, dealEvidence, dealOf, externalEntry, unmatchedEntry, tradeEntry } from "./deal-entries.ts";
import { explainDeal, type Explanation, NO_RESULT_RULES, type ResultRules } from "./explain-deal.ts";
import { recordsOfDeals, type RecordsOfDeals } from "./records-of-deals.ts";

/** Deals of logins since an instant, those of each login oldest first; `to` when later deals were not read. */
export type Histories = {
  readonly from: Date;
  readonly to?: Date | undefined;
  /** The database for which they were read, when the reader remembers other deals as filed. */
  readonly database?: string | undefined;
  /** These are all deals of the logins since `from`. */
  readonly isWhole?: boolean | undefined;
  readonly deals: ReadonlyMap<string, readonly Deal[]>;
};

type Filing = Pick<Deps, "pool" | "loginSignals"> & { readonly settings: Pick<Deps["settings"], "server" | "results"> };

/**
 * Appends the new deals of each login's history to its log, in the order of the history, in one commit. A deal that may belong
 * to an open leg stops the filing of its login: later deals wait until that leg is decided, because log positions never change.
 * Of several logins those that another transaction has locked are left out and returned; a single one is waited for.
 */
export async function fileDeals(deps: Filing, histories: Histories): Promise<readonly string[]> {
  const { deals, from, database } = histories;
  const logins = [...deals.keys()];
  const locked = await inTransaction(deps.pool, async (tx) => {
    if (database !== undefined) await requireDatabase(tx, database);
    const all = await (logins.length > 1 ? lockFreeAccounts(tx, logins) : lockAccounts(tx, logins));
    // A history that begins after an undecided deal would skip this deal. What is shown under the login of an account that is not shown
    // may be of another account; it is read again when it is not.
    const accounts = [...all.values()].filter(
      ({ undecidedFrom: at, isUnshown }) => !isUnshown && (at === undefined || at >= from),
    );
    await fileLocked(tx, deps.settings, accounts, histories);
    return all;
  });
  for (const login of locked.keys()) deps.loginSignals.notify(login);
  return logins.length > 1 ? logins.filter((login) => !locked.has(login)) : [];
}

async function fileLocked(
  tx: Transaction,
  { server, results }: Filing["settings"],
  accounts: readonly Account[],
  { deals, to, isWhole }: Histories,
): Promise<void> {
  const shown = accounts.flatMap(({ login }) => deals.get(login) ?? []);
  const tickets = shown.map(({ ticket }) => ticket);
  const known = await listDealRecords(tx, server, tickets);
  const readsFrom = new Map(accounts.map((account) => [account.login, account.readsFrom]));
  const fresh = shown.filter(
    ({ ticket, login, at }) => !isBooked(known.get(ticket)) && at >= (readsFrom.get(login) ?? at),
  );
  const records = await recordsOfDeals(tx, server, fresh);
  const byLogin = Map.groupBy(fresh, ({ login }) => login);
  const additions: Addition[] = [];
  for (const account of accounts) {
    const { login, undecidedFrom, mayLackDeals } = account;
    const { entries, undecided } = await explainAll(
      { tx, server, account, records, results },
      byLogin.get(login) ?? [],
    );
    additions.push(...entries.map((entry) => ({ account, entry })));
    // An undecided deal after the period was not read, so it stays.
    const later = undecidedFrom !== undefined && to !== undefined && undecidedFrom > to ? undecidedFrom : undefined;
    // A part of a history, such as the next slice of a group, does not prove that it has all deals.
    const unproven = mayLackDeals && isWhole !== true ? undecidedFrom : undefined;
    const at = undecided?.at ?? later ?? unproven;
    if (at?.getTime() !== undecidedFrom?.getTime()) await setUndecidedFrom(tx, login, at);
  }
  await appendToLogs(tx, server, additions);
}

type Commit = {
  readonly tx: Transaction;
  readonly server: string;
  readonly account: Account;
  readonly records: RecordsOfDeals;
  readonly results: ResultRules;
};
type Explained = { readonly entries: readonly NewEntry[]; readonly undecided: Deal | undefined };

async function explainAll(commit: Commit, deals: readonly Deal[]): Promise<Explained> {
  const entries: NewEntry[] = [];
  const rules = commit.account.role === "master" ? commit.results : NO_RESULT_RULES;
  for (const deal of deals) {
    const explanation = explainDeal(deal, await commit.records.of(deal), rules);
    if (explanation.kind === "undecided") {
      await reportMisfit(commit, deal, explanation);
      return { entries, undecided: deal };
    }
    entries.push(...(await entriesFor(commit, deal, explanation)));
  }
  return { entries, undecided: undefined };
}

async function entriesFor(
  commit: Commit,
  deal: Deal,
  explanation: Exclude<Explanation, { kind: "undecided" }>,
): Promise<NewEntry[]> {
  const { tx, server, records } = commit;
  const circumstances = { server, at: deal.at };
  switch (explanation.kind) {
    case "no_effect":
      return [];
    case "trade":
      return [tradeEntry(deal)];
    case "own":
      return [await ownEntry(commit, deal, explanation.leg)];
    case "applies": {
      const { leg, event, isPermitLost } = explanation;
      if (isPermitLost) await reportLostCommits(tx, server, deal);
      records.noteChangedLeg();
      const { entry } = await recordTransition(tx, leg, event, circumstances);
      return entry === undefined ? [] : [{ ...entry, deal: dealOf(deal), at: deal.at }];
    }
    case "external": {
      const { finding, leg, event, isPermitLost } = explanation;
      if (isPermitLost) await reportLostCommits(tx, server, deal);
      if (finding === "unknown_reference") {
        const imported = await importLost(commit, deal);
        if (imported !== undefined) return [imported];
      }
      if (leg !== undefined) records.noteChangedLeg();
      if (finding !== undefined) await report(tx, server, deal, { reason: finding, leg });
      if (leg !== undefined && event !== undefined) {
        await recordTransition(tx, leg, event, isPermitLost ? dealEvidence(server, deal, leg) : circumstances);
      }
      const entry = externalEntry(deal);
      return readReference(deal.comment) === undefined ? [entry] : [entry, unmatchedEntry(deal)];
    }
  }
}

/** A leg of a Master gets its log position here, where the platform's history shows its deal. */
async function ownEntry({ tx, server, records }: Commit, deal: Deal, leg: RecordedLeg): Promise<NewEntry> {
  if (leg.amountMinor !== effectOf(deal)) {
    records.noteChangedLeg();
    const event = { type: "does_not_fit", reason: "amount_differs" } as const;
    await recordTransition(tx, leg, event, dealEvidence(server, deal, leg));
  }
  return { ...externalEntry(deal), kind: leg.status.kind, label: undefined, cause: causeOf(leg) };
}

/** Sends a misfit to manual review, but only from UNKNOWN: before that the sender's own answer may still arrive. */
async function reportMisfit(
  { tx, server, records }: Commit,
  deal: Deal,
  { leg, misfit }: Extract<Explanation, { kind: "undecided" }>,
): Promise<void> {
  if (misfit === undefined || !accepts(leg.status, "does_not_fit")) return;
  records.noteChangedLeg();
  await recordTransition(tx, leg, { type: "does_not_fit", reason: misfit }, dealEvidence(server, deal, leg));
}

/** The database has lost the leg. Its deal is booked as what its reference says, if it fits; permits stop in any case. */
async function importLost(commit: Commit, deal: Deal): Promise<NewEntry | undefined> {
  const { tx, server, account, records } = commit;
  await reportLostCommits(tx, server, deal);
  const entry = await importDeal(tx, server, account, deal);
  if (entry === undefined) return undefined;
  records.noteChangedLeg();
  await publishImport(tx, server, deal, entry.kind);
  await report(tx, server, deal, { reason: "imported_deal", leg: undefined });
  return entry;
}

async function reportLostCommits(tx: Transaction, server: string, deal: Deal): Promise<void> {
  const reference = readReference(deal.comment);
  if (reference === undefined) return;
  const { login, ticket: dealId, comment } = deal;
  await stopForLostCommits(tx, server, { login, dealId, amountMinor: effectOf(deal), comment, reference });
}

async function report(
  tx: Transaction,
  server: string,
  deal: Deal,
  { reason, leg }: { readonly reason: Reason; readonly leg: RecordedLeg | undefined },
): Promise<void> {
  const { login, comment } = deal;
  const { dealId, evidence } = dealEvidence(server, deal, leg);
  const amountMinor = effectOf(deal);
  const reference = readReference(comment);
  await reportFinding(tx, { login, leg, reason, server, dealId, amountMinor, reference, evidence });
}
