import { Counter } from "prom-client";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { Cashflow, NewCashflow } from "../domain/cashflow.ts";
import {
  possibleDuplicate,
  duplicateInProgress,
  DUPLICATE_WINDOW_MS,
  type DuplicateRule,
} from "../domain/duplicate.ts";
import { findCashflow, insertCashflow, markPossibleDuplicate } from "../store/cashflows.ts";
import { findExecutedDuplicate, findOpenDuplicate } from "../store/duplicates.ts";

const possibleDuplicates = new Counter({
  name: "pamm_possible_duplicates_total",
  help: "Operations that equal one of the same API key executed within 24 hours, by what was done with them.",
  labelNames: ["action", "decision"],
});

/** A duplicate that ends while it is looked for makes room; so often in a row it does not. */
const MAX_TRIES = 5;

export type Inserted = { readonly cashflow: Cashflow; readonly isNew: boolean };

/**
 * Records an operation, or finds the one that has its id. A duplicate that is not resolved stands in the way; one that was
 * executed lately is named, or stands in the way too. The unique index decides between two that come at the same moment.
 */
export async function insertOnce(tx: Transaction, intent: NewCashflow): Promise<Inserted> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const inserted = await insertCashflow(tx, intent);
    if (inserted !== undefined) return { cashflow: await compare(tx, intent, inserted), isNew: true };
    const known = await findCashflow(tx, intent.operationId);
    if (known !== undefined) return { cashflow: known, isNew: false };
    const duplicate = intent.duplicates && (await findOpenDuplicate(tx, { ...intent, keyId: intent.duplicates.keyId }));
    if (duplicate !== undefined) throw duplicateInProgress(duplicate);
  }
  throw new Error("an operation is neither new nor known, and nothing is in its way");
}

/** Undefined where nothing tells duplicates apart. */
export function duplicateRuleOf(client: Client | undefined): DuplicateRule | undefined {
  if (client === undefined || client.keyId === "" || !client.choseComment) return undefined;
  return { keyId: client.keyId, rejectsDuplicates: client.rejectsDuplicates };
}

async function compare(tx: Transaction, intent: NewCashflow, inserted: Cashflow): Promise<Cashflow> {
  const { duplicates, action, at } = intent;
  if (duplicates === undefined) return inserted;
  const since = new Date(at.getTime() - DUPLICATE_WINDOW_MS);
  const duplicate = await findExecutedDuplicate(tx, { ...intent, keyId: duplicates.keyId }, since);
  if (duplicate === undefined) return inserted;
  if (duplicates.rejectsDuplicates) {
    possibleDuplicates.inc({ action, decision: "rejected" });
    throw possibleDuplicate(duplicate);
  }
  await markPossibleDuplicate(tx, inserted.id, duplicate.dealId);
  afterCommit(tx, () => possibleDuplicates.inc({ action, decision: "executed" }));
  return { ...inserted, possibleDuplicateOf: duplicate.dealId };
}
