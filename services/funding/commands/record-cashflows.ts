import assert from "node:assert/strict";
import { Counter } from "prom-client";
import type { Pool } from "#kernel/postgres/pool.ts";
import { autocommit } from "#kernel/postgres/transaction.ts";
import type { IdempotencyKey } from "#proto/pamm/common/v1/idempotency_key.ts";
import type { Cashflow, NewCashflow } from "../domain/cashflow.ts";
import { listCashflowsById } from "../store/cashflows.ts";
import { type Considered, insertCashflows } from "../store/new-cashflows.ts";
import { type ClientKey, duplicateReasons, refusalUnderKey } from "../domain/duplicate.ts";

const possibleDuplicates = new Counter({
  name: "pamm_possible_duplicates_total",
  help: "Operations that equal one of the same client executed within 24 hours, by what was done with them.",
  labelNames: ["action", "decision"],
});
// From 0 on, so that the first one is an increase.
for (const action of ["deposit", "withdraw"]) {
  for (const decision of ["executed", "rejected"]) possibleDuplicates.inc({ action, decision }, 0);
}

/** The row of the operation; `isNew` when this call has recorded it. */
export type Recorded = { readonly cashflow: Cashflow; readonly isNew: boolean };

/** What became of a draft. "unknown_investor": the facts about the Investor have to be asked for first. */
export type Result = Recorded | Error | "unknown_investor";

/** Each time another operation with the same id or equal to it was recorded at the same moment. */
const MAX_TRIES = 5;

/**
 * Records operations together, each with its own result; what one statement has recorded stays when the next one fails. An
 * operation whose id is recorded is found again, and so is the one that has the key of the client; an unresolved duplicate refuses the
 * request; one executed within the window is named in the answer, or refuses the request too. Unique indexes decide between concurrent
 * requests. Every operation id occurs once.
 */
export async function recordCashflows(pool: Pool, drafts: readonly NewCashflow[]): Promise<Result[]> {
  const results = new Map<string, Result>();
  let rest = drafts;
  for (let tries = 0; tries < MAX_TRIES && rest.length > 0; tries += 1) {
    try {
      await recordOnce(pool, rest, results);
    } catch (error) {
      if (results.size === 0 || !(error instanceof Error)) throw error;
      return drafts.map(({ operationId }) => results.get(operationId) ?? error);
    }
    rest = rest.filter(({ operationId }) => !results.has(operationId));
  }
  return drafts.map(({ operationId }) => {
    const inconsistent = `Operation ${operationId} could not be inserted, and no duplicate of it is open.`;
    return results.get(operationId) ?? new Error(inconsistent);
  });
}

/** Adds the results that are certain now. Those of a statement are added before the next one can fail: its rows are committed. */
async function recordOnce(pool: Pool, drafts: readonly NewCashflow[], results: Map<string, Result>): Promise<void> {
  const considered = await autocommit(pool, (client) => insertCashflows(client, drafts));
  for (const draft of drafts) {
    const result = resultOf(draft, considered.get(draft.operationId));
    if (result !== undefined) results.set(draft.operationId, result);
  }
  const found = new Map<string, bigint>();
  for (const { operationId } of drafts) {
    const id = results.has(operationId) ? undefined : recordedId(considered.get(operationId));
    if (id !== undefined) found.set(operationId, id);
  }
  if (found.size === 0) return;
  const rows = await listCashflowsById(pool, [...found.values()]);
  const cashflows = new Map(rows.map((cashflow) => [cashflow.id, cashflow]));
  for (const [operationId, id] of found) {
    const cashflow = cashflows.get(id);
    if (cashflow !== undefined) results.set(operationId, { cashflow, isNew: false });
  }
}

/** The row that the request asks for again. */
function recordedId(considered: Considered | undefined): bigint | undefined {
  return considered?.knownId ?? considered?.keyed?.id;
}

/** Undefined for a request without an Idempotency-Key. */
export function clientKeyOf(key: IdempotencyKey | undefined): ClientKey | undefined {
  if (key === undefined || key.clientId === "") return undefined;
  const { clientId, hash, keptSince } = key;
  assert(keptSince !== undefined, "An idempotency key has an age.");
  return { clientId, hash, keptSince };
}

/** Undefined when the operation is recorded, or another one was recorded since the statement began. */
function resultOf(draft: NewCashflow, considered: Considered | undefined): Result | undefined {
  const { asked: _facts, duplicates, clientKey: _key, at: createdAt, ...request } = draft;
  if (considered?.knownId !== undefined) return undefined;
  if (considered?.keyed !== undefined) return refusalUnderKey(considered.keyed);
  if (considered?.hasFacts !== true) return "unknown_investor";
  const { id, firstDepositChecked, minDeposit, masterLogin, executed } = considered;
  const [reason] = duplicateReasons(considered, duplicates);
  if (considered.openDuplicate !== undefined) return reason;
  if (id === undefined && reason === undefined) return undefined;
  const counted = { action: draft.action, decision: reason === undefined ? "executed" : "rejected" };
  if (executed !== undefined) possibleDuplicates.inc(counted);
  if (id === undefined) return reason;
  const cashflow: Cashflow = {
    ...request,
    id,
    masterLogin,
    firstDepositChecked,
    minDeposit,
    state: "RECORDED",
    doubt: undefined,
    dealId: undefined,
    possibleDuplicateOf: executed?.dealId,
    refusal: undefined,
    queueState: request.queueUntil && "WANTED",
    createdAt,
    finishedAt: undefined,
    isImported: false,
  };
  return { cashflow, isNew: true };
}
