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

/** A duplicate may finish between the insert and the search for it, and then the insert is tried again. */
const MAX_TRIES = 5;

export type Inserted = { readonly cashflow: Cashflow; readonly isNew: boolean };

/**
 * Records an operation, or finds the one with its id. An unresolved duplicate refuses the request; one executed within the
 * window is named in the answer, or refuses the request too. A unique index decides between concurrent duplicates.
 */
export async function insertOnce(tx: Transaction, intent: NewCashflow): Promise<Inserted> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const inserted = await insertCashflow(tx, intent);
    if (inserted !== undefined) return { cashflow: await checkExecutedDuplicate(tx, intent, inserted), isNew: true };
    const known = await findCashflow(tx, intent.operationId);
    if (known !== undefined) return { cashflow: known, isNew: false };
    const duplicate = intent.duplicates && (await findOpenDuplicate(tx, { ...intent, keyId: intent.duplicates.keyId }));
    if (duplicate !== undefined) throw duplicateInProgress(duplicate);
  }
  throw new Error(`Operation ${intent.operationId} could not be inserted, and no duplicate of it is open.`);
}

/** Undefined when duplicates cannot be distinguished: no API key, or a default comment. */
export function duplicateRuleOf(client: Client | undefined): DuplicateRule | undefined {
  if (client === undefined || client.keyId === "" || !client.choseComment) return undefined;
  return { keyId: client.keyId, rejectsDuplicates: client.rejectsDuplicates };
}

async function checkExecutedDuplicate(tx: Transaction, intent: NewCashflow, inserted: Cashflow): Promise<Cashflow> {
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
