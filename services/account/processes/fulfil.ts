import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { CreateAccountRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { provisioningKey, rolesOf, type Provisioning, type ProvisionedRole } from "../domain/provisioning.ts";
import { openPasswords } from "../passwords.ts";
import { refuse } from "../refusals.ts";
import { insertInvestor } from "../store/investors.ts";
import { insertMaster } from "../store/masters.ts";
import {
  getProvisioning,
  lockPending,
  markActive,
  markFailed,
  markLogin,
  markNeverSent,
} from "../store/provisionings.ts";

const ROLE = { trading: AccountRole.MASTER, payment: AccountRole.PAYMENT, investor: AccountRole.INVESTOR } as const;

/**
 * Brings an order from wherever it stands to its end. Every account is created under a key of its own, so that doing it again
 * creates nothing twice, and the directory hears of it when everything exists.
 */
export async function fulfil(deps: Deps, provisioning: Provisioning, context: CallContext): Promise<Provisioning> {
  if (provisioning.state === "PENDING") {
    for (const role of rolesOf(provisioning)) {
      await createAccount(deps, provisioning, role, context);
    }
    await activate(deps, await getProvisioning(deps.pool, provisioning.operationId));
  }
  const ended = await getProvisioning(deps.pool, provisioning.operationId);
  if (ended.refusal !== undefined) {
    throw ended.refusal;
  }
  return ended;
}

async function createAccount(
  deps: Deps,
  provisioning: Provisioning,
  role: ProvisionedRole,
  context: CallContext,
): Promise<void> {
  try {
    const { login } = await deps.platform.createAccount(await requestOf(deps, provisioning, role), context);
    await markLogin(deps.pool, provisioning.id, role, login);
  } catch (error) {
    throw error instanceof Refusal ? await takeNo(deps, provisioning, error) : error;
  }
}

/** A no of the platform is final; anything else leaves the order to the resuming job, unless nothing was begun. */
async function takeNo(deps: Deps, { id, operationId }: Provisioning, refusal: Refusal): Promise<Refusal> {
  if (refusal.status === "invalid" || refusal.status === "rejected" || refusal.code === "login_range_exhausted") {
    const final = finalRefusal(refusal);
    await markFailed(deps.pool, id, final);
    return final;
  }
  if (refusal.outcome === "not_executed") {
    const unavailable = refuse("platform_unavailable", "The trading platform cannot be reached. Nothing was created.", {
      outcome: "not_executed",
      retryAfterMs: RETRY_AFTER_MS,
    });
    if (await markNeverSent(deps.pool, id, unavailable)) {
      return unavailable;
    }
  }
  return refuse(
    "outcome_unknown",
    "The accounts are still being created. Look them up in the directory before sending the request again.",
    {
      outcome: "unknown",
      operationId,
    },
  );
}

/** The platform does not know which field of the request it says no to. */
function finalRefusal({ code, status, message, details, errors }: Refusal): Refusal {
  const named = code === "group_not_allowed" ? [{ field: "platform_group", code, message }] : errors;
  return new Refusal({ code, status, message, details, errors: named, outcome: "not_executed" });
}

/** Never half a Master: identity, accounts and the end of the order are one commit. */
async function activate({ pool, now }: Deps, provisioning: Provisioning): Promise<void> {
  const createdAt = now();
  await inTransaction(pool, async (tx) => {
    if (await lockPending(tx, provisioning.id)) {
      await markActive(tx, provisioning.id, await insertIdentity(tx, provisioning, createdAt));
    }
  });
}

async function insertIdentity(tx: Transaction, details: Provisioning, createdAt: Date): Promise<bigint> {
  const { kind, name, login, paymentLogin, strategyName, strategy, minDeposit, operationId: commandId } = details;
  assert(login !== undefined, "the platform has named the account");
  if (kind === "INVESTOR") {
    return (await insertInvestor(tx, { login, name, createdAt, commandId })).id;
  }
  assert(paymentLogin !== undefined, "the platform has named the payment account");
  const texts = { name, strategyName, strategy };
  return (await insertMaster(tx, { login, paymentLogin, ...texts, minDeposit, createdAt, commandId })).id;
}

async function requestOf(deps: Deps, provisioning: Provisioning, role: ProvisionedRole): Promise<CreateAccountRequest> {
  const key = provisioningKey(provisioning, role);
  const passwords = await openPasswords(deps, key);
  assert(passwords !== undefined, "an order has its passwords from the beginning");
  return {
    key,
    role: ROLE[role],
    group: role === "payment" ? "" : provisioning.platformGroup,
    firstName: provisioning.firstName,
    lastName: provisioning.lastName,
    email: provisioning.email,
    leverage: provisioning.leverage,
    mainPassword: passwords.main.reveal(),
    investorPassword: passwords.investor.reveal(),
  };
}
