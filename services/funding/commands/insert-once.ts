import { Counter } from "prom-client";
import { afterCommit, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Client } from "#proto/pamm/funding/v1/funding.ts";
import type { Cashflow, NewCashflow } from "../domain/cashflow.ts";
import { possibleDuplicate, twinInProgress, TWINS_WITHIN_MS, type TwinRule } from "../domain/twin.ts";
import { findCashflow, insertCashflow, markPossibleDuplicate } from "../store/cashflows.ts";
import { findExecutedTwin, findOpenTwin } from "../store/twins.ts";

const possibleDuplicates = new Counter({
  name: "pamm_possible_duplicates_total",
  help: "Operations that equal one of the same API key executed within 24 hours, by what was done with them.",
  labelNames: ["action", "decision"],
});

/** A twin that ends while it is looked for makes room; so often in a row it does not. */
const MOST_TRIES = 5;

export type Inserted = { readonly cashflow: Cashflow; readonly isNew: boolean };

/**
 * Records an operation, or finds the one that has its id. A twin that is not resolved stands in the way; one that was
 * executed lately is named, or stands in the way too. The unique index decides between two that come at the same moment.
 */
export async function insertOnce(tx: Transaction, intent: NewCashflow): Promise<Inserted> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const inserted = await insertCashflow(tx, intent);
    if (inserted !== undefined) return { cashflow: await compare(tx, intent, inserted), isNew: true };
    const known = await findCashflow(tx, intent.operationId);
    if (known !== undefined) return { cashflow: known, isNew: false };
    const twin = intent.twins && (await findOpenTwin(tx, { ...intent, keyId: intent.twins.keyId }));
    if (twin !== undefined) throw twinInProgress(twin);
  }
  throw new Error("an operation is neither new nor known, and nothing is in its way");
}

/** Undefined where nothing tells twins apart. */
export function twinRuleOf(client: Client | undefined): TwinRule | undefined {
  if (client === undefined || client.keyId === "" || !client.choseComment) return undefined;
  return { keyId: client.keyId, rejectsDuplicates: client.rejectsDuplicates };
}

async function compare(tx: Transaction, intent: NewCashflow, inserted: Cashflow): Promise<Cashflow> {
  const { twins, action, at } = intent;
  if (twins === undefined) return inserted;
  const since = new Date(at.getTime() - TWINS_WITHIN_MS);
  const twin = await findExecutedTwin(tx, { ...intent, keyId: twins.keyId }, since);
  if (twin === undefined) return inserted;
  if (twins.rejectsDuplicates) {
    possibleDuplicates.inc({ action, decision: "rejected" });
    throw possibleDuplicate(twin);
  }
  await markPossibleDuplicate(tx, inserted.id, twin.dealId);
  afterCommit(tx, () => possibleDuplicates.inc({ action, decision: "executed" }));
  return { ...inserted, possibleDuplicateOf: twin.dealId };
}
