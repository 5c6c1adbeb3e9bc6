import { Counter } from "prom-client";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { Cashflow, NewCashflow } from "../domain/cashflow.ts";
import { decideDeposit, type DepositFacts } from "../domain/deposit.ts";
import {
  duplicateInProgress,
  type DuplicateRule,
  DUPLICATE_WINDOW_MS,
  type ExecutedDuplicate,
  possibleDuplicate,
} from "../domain/duplicate.ts";
import {
  deleteCashflows,
  insertCashflows,
  listCashflows,
  listFundedLogins,
  markPossibleDuplicates,
} from "../store/cashflows.ts";
import { listExecutedDuplicates, listOpenDuplicates } from "../store/duplicates.ts";
import { type InvestorFacts, listInvestorFacts } from "../store/investor-facts.ts";

const possibleDuplicates = new Counter({
  name: "pamm_possible_duplicates_total",
  help: "Operations that equal one of the same API key executed within 24 hours, by what was done with them.",
  labelNames: ["action", "decision"],
});

/** A requested operation. */
export type Draft = Omit<NewCashflow, "decision"> & {
  /** Facts that the owners have just answered; without them those of the feeds count, except for a first deposit. */
  readonly asked?: InvestorFacts;
};

/** The row of the operation; `isNew` when this transaction has recorded it. */
export type Recorded = { readonly cashflow: Cashflow; readonly isNew: boolean };

/**
 * What became of a draft. "again": a duplicate has ended between two statements, and the next try records the operation.
 * "unknown_investor": the facts about the Investor have to be asked for first.
 */
export type Result = Recorded | Error | "again" | "unknown_investor";

/**
 * Records operations in one transaction, each with its own result. An operation whose id is recorded is found again; an
 * unresolved duplicate refuses the request; one executed within the window is named in the answer, or refuses the request too. A
 * unique index decides between concurrent duplicates. Every operation id occurs once.
 */
export async function recordCashflows(tx: Transaction, drafts: readonly Draft[]): Promise<Result[]> {
  const known = await listCashflows(tx, drafts.map(idOf));
  const fresh = drafts.filter(({ operationId }) => !known.has(operationId));
  const decided = await decideAll(tx, fresh);
  const intents = [...decided.values()].flatMap((each) => (isIntent(each) ? [each] : []));
  const inserted = await insertCashflows(tx, intents);
  const checked = await checkExecuted(tx, intents, inserted);
  const blocked = await findBlocking(
    tx,
    intents.filter(({ operationId }) => !inserted.has(operationId)),
  );
  return drafts.map(({ operationId }) => {
    const before = known.get(operationId);
    if (before !== undefined) return { cashflow: before, isNew: false };
    const decision = decided.get(operationId);
    if (decision === "unknown_investor" || decision instanceof Error) return decision;
    return checked.get(operationId) ?? blocked.get(operationId) ?? "again";
  });
}

/** Undefined when duplicates cannot be distinguished: no API key, or a default comment. */
export function duplicateRuleOf(client: Client | undefined): DuplicateRule | undefined {
  if (client === undefined || client.keyId === "" || !client.choseComment) return undefined;
  return { keyId: client.keyId, rejectsDuplicates: client.rejectsDuplicates };
}

function idOf({ operationId }: { readonly operationId: string }): string {
  return operationId;
}

type Decided = NewCashflow | Error | "unknown_investor";

function isIntent(decided: Decided): decided is NewCashflow {
  return typeof decided === "object" && !(decided instanceof Error);
}

/** Both of two concurrent first deposits must meet the minimum: neither is POSTED when the other is decided. */
async function decideAll(tx: Transaction, drafts: readonly Draft[]): Promise<ReadonlyMap<string, Decided>> {
  const facts = await listInvestorFacts(tx, loginsOf(drafts));
  const funded = await listFundedLogins(tx, loginsOf(drafts.filter(({ action }) => action === "deposit")));
  return new Map(
    drafts.map((draft) => {
      const isFirst = !funded.has(draft.login);
      // The minimum is a rule for the first deposit only, and a feed may not have brought the newest assignment yet.
      const mustAsk = isFirst && draft.action === "deposit";
      const known = draft.asked ?? (mustAsk ? undefined : facts.get(draft.login));
      return [draft.operationId, known === undefined ? "unknown_investor" : decide(draft, { ...known, isFirst })];
    }),
  );
}

function loginsOf(drafts: readonly Draft[]): string[] {
  return [...new Set(drafts.map(({ login }) => login))];
}

function decide({ asked: _facts, ...draft }: Draft, facts: Omit<DepositFacts, "amount">): NewCashflow | Error {
  if (draft.action === "withdraw") return { ...draft, decision: undefined };
  try {
    return { ...draft, decision: decideDeposit({ ...facts, amount: draft.amount }) };
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

/** An inserted operation that equals an executed one is marked with its deal, or deleted again when its API key rejects duplicates. */
async function checkExecuted(
  tx: Transaction,
  intents: readonly NewCashflow[],
  inserted: ReadonlyMap<string, Cashflow>,
): Promise<ReadonlyMap<string, Recorded | Error>> {
  const executed = await findExecuted(
    tx,
    intents.filter(({ operationId }) => inserted.has(operationId)),
  );
  const rejected: string[] = [];
  const marked: { readonly operationId: string; readonly dealId: bigint }[] = [];
  const results = new Map<string, Recorded | Error>();
  for (const [operationId, cashflow] of inserted) {
    const duplicate = executed.get(operationId);
    if (duplicate?.isRejected === true) {
      rejected.push(operationId);
      results.set(operationId, possibleDuplicate(duplicate));
    } else {
      if (duplicate !== undefined) marked.push({ operationId, dealId: duplicate.dealId });
      results.set(operationId, { cashflow: { ...cashflow, possibleDuplicateOf: duplicate?.dealId }, isNew: true });
    }
    if (duplicate === undefined) continue;
    const decision = duplicate.isRejected ? "rejected" : "executed";
    afterCommit(tx, () => possibleDuplicates.inc({ action: cashflow.action, decision }));
  }
  if (rejected.length > 0) await deleteCashflows(tx, rejected);
  if (marked.length > 0) await markPossibleDuplicates(tx, marked);
  return results;
}

type Executed = ExecutedDuplicate & { readonly isRejected: boolean };

async function findExecuted(tx: Transaction, intents: readonly NewCashflow[]): Promise<ReadonlyMap<string, Executed>> {
  const distinguished = intents.filter(({ duplicates }) => duplicates !== undefined);
  if (distinguished.length === 0) return new Map();
  const duplicates = await listExecutedDuplicates(tx, distinguished.map(soughtOf), DUPLICATE_WINDOW_MS);
  const rejecting = new Set(distinguished.filter((each) => each.duplicates?.rejectsDuplicates).map(idOf));
  return new Map(
    duplicates.map(({ of, ...duplicate }) => [of, { ...duplicate, isRejected: rejecting.has(of) }] as const),
  );
}

/** Why operations could not be inserted: an equal one is open. */
async function findBlocking(tx: Transaction, intents: readonly NewCashflow[]): Promise<ReadonlyMap<string, Error>> {
  const distinguished = intents.filter(({ duplicates }) => duplicates !== undefined);
  if (distinguished.length === 0) return new Map();
  const open = await listOpenDuplicates(tx, distinguished.map(soughtOf));
  return new Map(open.map(({ of, operationId }) => [of, duplicateInProgress(operationId)]));
}

function soughtOf({ duplicates, ...intent }: NewCashflow) {
  return { ...intent, keyId: duplicates?.keyId ?? "" };
}
