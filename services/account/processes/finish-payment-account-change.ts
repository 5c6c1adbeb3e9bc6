import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { withReplyReserve } from "#kernel/contract/deadlines.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, restated, RETRY_AFTER_MS, recordedAs } from "#kernel/refusal.ts";
import { isTransientFailure } from "#kernel/transient-failure.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { publishMaster } from "../directory-changes.ts";
import { refuse } from "../refusals.ts";
import { findMasterById } from "../store/masters.ts";
import {
  listOwners,
  markAsked,
  markDone,
  markRefused,
  type PaymentAccountChange,
  reserveLogin,
  setPaymentLogin,
} from "../store/payment-account-changes.ts";

/**
 * Continues a change from any point: takes the account over and reserves its login, asks fee, which pays to the new account from then on, and
 * changes the Master. Each step is safe to repeat. Throws the refusal of a change that has ended without effect.
 */
export async function finishChange(deps: Deps, change: PaymentAccountChange, context: CallContext): Promise<void> {
  const { pool, now } = deps;
  const { id, masterId, to } = change;
  const master = await findMasterById(pool, masterId);
  assert(master !== undefined, "a Master is never deleted");
  if (change.state === "PENDING") await prepare(deps, change, context);
  const isFirst = await markAsked(pool, id);
  await askFee(deps, { change, masterLogin: master.login, isFirst }, context);
  await inTransaction(pool, async (tx) => {
    if (!(await markDone(tx, id, now()))) return;
    await setPaymentLogin(tx, masterId, to);
    publishMaster(tx, { ...master, paymentLogin: to });
  });
}

/** Whatever fails here, no fee is paid to another account than before. */
async function prepare(deps: Deps, change: PaymentAccountChange, context: CallContext): Promise<void> {
  const { id, to } = change;
  try {
    await deps.platform.adoptAccount({ login: to, role: AccountRole.PAYMENT }, withReplyReserve(context));
    await reserve(deps, change);
  } catch (error) {
    if (!(error instanceof Refusal) && !isTransientFailure(error)) throw error;
    const refusal = withoutEffect(error);
    // Another process may have come further.
    if (!(await markRefused(deps.pool, { id, state: "PENDING" }, recordedAs(refusal), deps.now()))) return;
    throw refusal;
  }
}

/** From here on no other request can register the login, and it stays a payment account also when the change is refused. */
async function reserve({ pool }: Deps, { masterId, to }: PaymentAccountChange): Promise<void> {
  try {
    await inTransaction(pool, (tx) => reserveLogin(tx, to));
  } catch (error) {
    if (violatedConstraint(error) !== "account_pkey") throw error;
    throw refuse("login_in_use", `Login ${to} was registered at the same time.`, { outcome: "not_executed" });
  }
  // A registration that had the login first.
  if ((await listOwners(pool, to)).some((owner) => owner !== masterId)) throw inUse(to);
}

export function inUse(login: string): Refusal {
  return refuse("payment_account_in_use", `Payment account ${login} is already assigned to another Master.`, {
    outcome: "not_executed",
  });
}

function withoutEffect(error: unknown): Refusal {
  if (error instanceof Refusal && !isTransientFailure(error)) return restated(error, { outcome: "not_executed" });
  return refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was changed.", {
    outcome: "not_executed",
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** The refusals of fee itself: when it answers one, it pays to the account before. */
const DECIDED = new Set(["fees_in_progress", "safety_stop", "payment_account_in_use"]);

type Asking = {
  readonly change: PaymentAccountChange;
  readonly masterLogin: string;
  /** No other call to fee can have been made for the change. */
  readonly isFirst: boolean;
};

async function askFee(deps: Deps, { change, masterLogin, isFirst }: Asking, context: CallContext): Promise<void> {
  const { id, from, to } = change;
  try {
    await deps.fees.changePaymentAccount({ masterLogin, from, to }, withReplyReserve(context));
  } catch (error) {
    const isUnsent = error instanceof Refusal && isFirst && error.outcome === "not_executed";
    if (error instanceof Refusal && (isUnsent || DECIDED.has(error.code))) {
      await markRefused(deps.pool, { id, state: "ASKED" }, recordedAs(error), deps.now());
      throw error;
    }
    deps.log.info("payment account not changed, retry scheduled", { login: masterLogin, error });
    throw stillChanging(context);
  }
}

function stillChanging({ commandId }: CallContext): Refusal {
  return refuse("outcome_unknown", "The payment account is still being changed.", {
    outcome: "unknown",
    ...(commandId === "" ? {} : { operationId: commandId }),
  });
}
