import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { Deps } from "../deps.ts";
import { decideExistence, ROLE_NAMES } from "../domain/decide-registration.ts";
import { paymentEqualsMaster } from "../domain/payment-equals-master.ts";
import type { Master } from "../domain/master.ts";
import { refuse } from "../refusals.ts";
import { findChangeOfCommand, insertChange, listOwners } from "../store/payment-account-changes.ts";
import { finishChange, inUse } from "./finish-payment-account-change.ts";
import { registrationFacts } from "./register.ts";

const FIELD = "payment_account_login";

/** Gives the Master another payment account. A repeated command continues its change, or finds it done. */
export async function changePaymentAccount(
  deps: Deps,
  { id: masterId, login: masterLogin, paymentLogin: from }: Master,
  to: string,
  context: CallContext,
): Promise<void> {
  const { pool, now } = deps;
  const { commandId } = context;
  const own = await failAsUnavailable(() => findChangeOfCommand(pool, commandId));
  if (own?.state === "DONE") return;
  if (own !== undefined) return await finishChange(deps, own, context);
  if (to === from) return;
  if (to === masterLogin) throw paymentEqualsMaster(masterLogin);
  await failAsUnavailable(() => check(deps, masterId, to, context));
  const recoverInMs = remainingMs(context) + RECOVERY_GRACE_MS;
  const change = await failAsUnavailable(() =>
    insertChange(pool, { commandId, masterId, from, to, at: now(), recoverInMs }),
  );
  if (change === undefined) {
    throw refuse(
      "account_busy",
      "Another change of this Master's payment account is in progress, which ends within seconds. Nothing was executed. Send the request again in a second.",
      {
        outcome: "not_executed",
        retryAfterMs: RETRY_AFTER_MS,
      },
    );
  }
  await finishChange(deps, change, context);
}

/** The account exists on the trading platform, and is free, or was the payment account of the same Master before. */
async function check(deps: Deps, masterId: bigint, login: string, context: CallContext): Promise<void> {
  const facts = await registrationFacts(deps, [{ field: FIELD, login }], context);
  const [{ role } = {}] = facts;
  if (role !== undefined && role !== "PAYMENT") {
    throw refuse("login_in_use", `Login ${login} is in use: it is ${ROLE_NAMES[role]}.`, { outcome: "not_executed" });
  }
  if ((await listOwners(deps.pool, login)).some((owner) => owner !== masterId)) throw inUse(login);
  decideExistence(facts);
}
