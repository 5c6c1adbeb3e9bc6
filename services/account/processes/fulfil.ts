import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, restated } from "#kernel/values/refusal.ts";
import { AccountRole } from "#proto/pamm/platform/v1/movement.ts";
import type { CreateAccountRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { registerInvestor, registerMaster } from "../directory-changes.ts";
import {
  provisioningKey,
  rolesOf,
  type Provisioning,
  type ProvisionedRole,
  type NewProvisioning,
} from "../domain/provisioning.ts";
import { decryptPasswords } from "../passwords.ts";
import { refuse } from "../refusals.ts";
import {
  getProvisioning,
  lockPending,
  markActive,
  markFailed,
  markLogin,
  markNeverSent,
  findProvisioning,
  insertProvisioning,
  markRepeated,
} from "../store/provisionings.ts";
import { remainingMs } from "#kernel/contract/context.ts";
import { failAsUnavailable, withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { Labels } from "#kernel/values/labels.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { RECOVERY_GRACE_MS } from "#kernel/jobs/retry.ts";
import { Secret } from "#kernel/values/secret.ts";
import { putCredential } from "../store/credentials.ts";
import { reserveProfile } from "./profile.ts";

/** Creates the requested accounts once, however often the caller repeats the command id. */
export async function provision(
  deps: Deps,
  { labels, ...details }: NewProvisioning & { readonly labels?: Labels | undefined },
  context: CallContext,
): Promise<Provisioning> {
  const recorded = await failAsUnavailable(() => record(deps, details, labels, context));
  return await fulfil(deps, recorded, withReplyReserve(context));
}

/** Commits the request with its encrypted passwords before platform is called: a crash leaves a row to resume, no unrecorded account. */
async function record(
  { pool, credentialCipher, newPassword, now }: Deps,
  details: NewProvisioning,
  labels: Labels | undefined,
  call: CallContext,
): Promise<Provisioning> {
  const known = await findProvisioning(pool, details.operationId);
  if (known !== undefined) return await join(pool, known);
  return await inTransaction(pool, async (tx) => {
    const recoverInMs = remainingMs(call) + RECOVERY_GRACE_MS;
    const provisioning = await insertProvisioning(tx, details, { at: now(), recoverInMs });
    if (provisioning === undefined) {
      return await join(tx, await getProvisioning(tx, details.operationId));
    }
    await reserveProfile(tx, details, { email: details.email, labels });
    for (const role of rolesOf(details)) {
      for (const field of ["main", "investor"] as const) {
        const context = { owner: provisioningKey(provisioning, role), field };
        await putCredential(tx, { ...context, ...credentialCipher.encrypt(new Secret(newPassword()), context) });
      }
    }
    return provisioning;
  });
}

/** Marks the row as repeated, so that no request concludes alone that nothing was sent, then reads it again. */
async function join(db: Queryable, { id, operationId }: Provisioning): Promise<Provisioning> {
  await markRepeated(db, id);
  return await getProvisioning(db, operationId);
}

const ROLE = { trading: AccountRole.MASTER, payment: AccountRole.PAYMENT, investor: AccountRole.INVESTOR } as const;

/** Of the conflicts, those that end a request. Another one, such as a busy account, passes. */
const FINAL_CONFLICTS: ReadonlySet<string> = new Set(["login_range_exhausted", "login_in_use"]);

/**
 * Continues a provisioning from its recorded state to its end. Every account is created under a key of its own, so a
 * repetition creates nothing twice, and the Master or Investor is registered when all its accounts exist.
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
    throw error instanceof Refusal ? await refusalAfter(deps, provisioning, error) : error;
  }
}

/** While the account may exist, whatever was refused, the recovery job continues. */
async function refusalAfter(deps: Deps, { id, operationId }: Provisioning, refusal: Refusal): Promise<Refusal> {
  if (refusal.outcome === "not_executed") {
    if (refusal.status === "invalid" || refusal.status === "rejected" || FINAL_CONFLICTS.has(refusal.code)) {
      const final = finalRefusal(refusal);
      await markFailed(deps.pool, id, final);
      return final;
    }
    const unavailable = refuse(
      "platform_unavailable",
      "The trading platform cannot create accounts at the moment. Nothing was created.",
      { outcome: "not_executed" },
    );
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

/** platform does not name the field of the request that it refuses. */
function finalRefusal(refusal: Refusal): Refusal {
  const { code, message } = refusal;
  return code === "group_not_allowed"
    ? restated(refusal, { errors: [{ field: "platform_group", code, message }] })
    : refusal;
}

/** One commit for the Master or Investor, its accounts and the end of the provisioning: there is never half a Master. */
async function activate({ pool, now }: Deps, provisioning: Provisioning): Promise<void> {
  const createdAt = now();
  try {
    await inTransaction(pool, async (tx) => {
      if (await lockPending(tx, provisioning.id)) {
        await markActive(tx, provisioning.id, await insertIdentity(tx, provisioning, createdAt));
      }
    });
  } catch (error) {
    if (violatedConstraint(error) !== "account_pkey") throw error;
    const message = "An account that was created for this request was registered since.";
    await markFailed(pool, provisioning.id, refuse("login_in_use", message, { outcome: "not_executed" }));
  }
}

async function insertIdentity(tx: Transaction, details: Provisioning, createdAt: Date): Promise<bigint> {
  const { kind, name, login, paymentLogin, strategyName, strategy, minDeposit, operationId: commandId } = details;
  assert(login !== undefined, "an activated provisioning has a login");
  if (kind === "INVESTOR") {
    return (await registerInvestor(tx, { login, name, createdAt, commandId, profile: undefined })).id;
  }
  assert(paymentLogin !== undefined, "an activated Master has a payment login");
  const texts = { name, strategyName, strategy };
  return (
    await registerMaster(tx, { login, paymentLogin, ...texts, minDeposit, createdAt, commandId, profile: undefined })
  ).id;
}

async function requestOf(deps: Deps, provisioning: Provisioning, role: ProvisionedRole): Promise<CreateAccountRequest> {
  const key = provisioningKey(provisioning, role);
  const passwords = await decryptPasswords(deps, key);
  assert(passwords !== undefined, "passwords are recorded with the provisioning");
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
