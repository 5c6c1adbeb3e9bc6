import { callContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, withReplyReserve } from "#kernel/contract/deadlines.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { reasonOf, RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import { Refusal, restated } from "#kernel/values/refusal.ts";
import { isTransientFailure, retryLevel } from "#kernel/jobs/transient-failure.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { Deps } from "../deps.ts";
import { paymentAccountInUse } from "../domain/decide-registration.ts";
import type { Master } from "../domain/master.ts";
import { refuse } from "../refusals.ts";
import {
  changeQueue,
  endChange,
  findChange,
  insertChange,
  isOfOther,
  type NewChange,
  type PaymentAccountChange,
  removeChange,
  reserveLogin,
} from "../store/payment-account-changes.ts";
import { requireRegistrable } from "./register.ts";
import { paymentEqualsMaster } from "../domain/checks.ts";

/** Gives the Master another payment account. A repeated command finds its change done, or in progress: then the recovery job finishes it. */
export async function changePaymentAccount(
  deps: Deps,
  { id: masterId, login: masterLogin, paymentLogin: from }: Master,
  to: string,
  context: CallContext,
): Promise<void> {
  const { pool, now } = deps;
  const { commandId } = context;
  const known = await failAsUnavailable(() => findChange(pool, masterId, commandId));
  if (known?.isOwn === true && known.isDone) return;
  if (known?.isOwn === true) throw stillChanging(context);
  if (to === from) return;
  if (to === masterLogin) throw paymentEqualsMaster(masterLogin);
  await failAsUnavailable(() => check(deps, masterId, to, context));
  if (known !== undefined) throw busy();
  await adopt(deps, to, context);
  const recoverInMs = remainingMs(context) + RECOVERY_GRACE_MS;
  const change = await failAsUnavailable(() => record(deps, { commandId, masterId, from, to, at: now(), recoverInMs }));
  if (change === undefined) throw busy();
  await finishChange(deps, change, context);
}

/** The account exists on the trading platform, and is free, or was the payment account of the same Master before. */
async function check(deps: Deps, masterId: bigint, login: string, context: CallContext): Promise<void> {
  const wanted = { field: "payment_account_login", login, wanted: "PAYMENT" } as const;
  await requireRegistrable(deps, [wanted], context, async ({ role }) => {
    return role === "PAYMENT" && !(await isOfOther(deps.pool, masterId, login));
  });
}

/** Whatever fails here, no fee is paid to another account than before. */
async function adopt({ platform }: Deps, login: string, context: CallContext): Promise<void> {
  try {
    await platform.adoptAccount({ login, role: AccountRole.PAYMENT }, withReplyReserve(context));
  } catch (error) {
    if (isTransientFailure(error)) {
      throw refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was changed.", {
        outcome: "not_executed",
      });
    }
    throw error instanceof Refusal ? restated(error, { outcome: "not_executed" }) : error;
  }
}

/**
 * Before fee is asked. From here on no other request can register the login, and it stays a payment account also when the change is refused.
 * Undefined while another change of the Master, or to the same login, is in progress.
 */
async function record({ pool }: Deps, fresh: NewChange): Promise<PaymentAccountChange | undefined> {
  const { masterId, to } = fresh;
  try {
    return await inTransaction(pool, async (tx) => {
      await reserveLogin(tx, to);
      const change = await insertChange(tx, fresh);
      // A registration, or a change of another Master, that had the login first.
      if (await isOfOther(tx, masterId, to)) throw paymentAccountInUse(to);
      return change;
    });
  } catch (error) {
    if (violatedConstraint(error) !== "account_pkey") throw error;
    throw refuse("login_in_use", `Login ${to} was registered at the same time.`, { outcome: "not_executed" });
  }
}

/** The refusals of fee itself: when it answers one, it pays to the account before. */
const DECIDED = new Set(["fees_in_progress", "safety_stop", "payment_account_in_use"]);

/**
 * Asks fee, which pays to the new account from then on, then changes the Master. Safe to repeat; the attempts at one change are made one
 * after the other. Throws the refusal of a change that has ended without effect.
 */
export async function finishChange(deps: Deps, change: PaymentAccountChange, context: CallContext): Promise<void> {
  const { masterLogin, from, to, tries } = change;
  try {
    await deps.fees.changePaymentAccount({ masterLogin, from, to }, withReplyReserve(context));
  } catch (error) {
    // No call for the change was ever sent.
    const isUnsent = error instanceof Refusal && tries === 0 && error.outcome === "not_executed";
    const isRefused = error instanceof Refusal && (isUnsent || DECIDED.has(error.code));
    if (isRefused && (await removeChange(deps.pool, change))) throw error;
    deps.log.info("payment account not changed, retry scheduled", { login: masterLogin, error });
    throw stillChanging(context);
  }
  await endChange(deps.pool, change, deps.now());
}

function busy(): Refusal {
  return refuse(
    "account_busy",
    "Another change of this Master's payment account is in progress, which ends within seconds. Nothing was executed. Send the request again in a second.",
    { outcome: "not_executed" },
  );
}

function stillChanging({ commandId }: CallContext): Refusal {
  return refuse("outcome_unknown", "The payment account is still being changed.", {
    outcome: "unknown",
    ...(commandId === "" ? {} : { operationId: commandId }),
  });
}

const BATCH = 4;
const ATTEMPT_MS = 10_000;

/** Finishes changes of payment accounts that a crash or a lost answer interrupted. True when more may be due. */
export async function resumePaymentAccountChanges(deps: Deps): Promise<boolean> {
  const claimed = await changeQueue.claim(deps.pool, BATCH);
  await Promise.all(claimed.map((change) => tryAgain(deps, change)));
  return claimed.length === BATCH;
}

async function tryAgain(deps: Deps, change: PaymentAccountChange): Promise<void> {
  try {
    await finishChange(deps, change, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
  } catch (error) {
    const { id, tries } = change;
    if (!(error instanceof Refusal)) {
      deps.log[retryLevel(error)]("payment account change failed, retry scheduled", { id, error });
    }
    // No effect on a change that was refused.
    await changeQueue.retryLater(deps.pool, [{ id, tries, reason: reasonOf(error) }]);
  }
}
