import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { later } from "#kernel/retry.ts";
import { Secret } from "#kernel/secret.ts";
import type { Deps } from "../deps.ts";
import { provisioningKey, rolesOf, type NewProvisioning, type Provisioning } from "../domain/provisioning.ts";
import { putCredential } from "../store/credentials.ts";
import { findProvisioning, getProvisioning, insertProvisioning, markAskedAgain } from "../store/provisionings.ts";
import { fulfil } from "./fulfil.ts";

/** The settling job looks at an order that its request could not fulfil after the request is over. */
const AFTER_DEADLINE_MS = 1_000;

/** Creates the accounts of an order once, however often the same command id asks for it. */
export async function provision(deps: Deps, details: NewProvisioning, context: CallContext): Promise<Provisioning> {
  const recorded = await failAsUnavailable(() => record(deps, details, context));
  return await fulfil(deps, recorded, withReplyReserve(context));
}

/** The order with its passwords, sealed, before the platform hears of it: a crash leaves a question rather than a stray account. */
async function record(
  { pool, vault, newPassword, now }: Deps,
  details: NewProvisioning,
  { deadline }: CallContext,
): Promise<Provisioning> {
  const known = await findProvisioning(pool, details.operationId);
  if (known !== undefined) return await join(pool, known);
  return await inTransaction(pool, async (tx) => {
    const nextTryAt = later(deadline, AFTER_DEADLINE_MS);
    const provisioning = await insertProvisioning(tx, details, { at: now(), nextTryAt });
    if (provisioning === undefined) {
      return await join(tx, await getProvisioning(tx, details.operationId));
    }
    for (const role of rolesOf(details)) {
      for (const field of ["main", "investor"] as const) {
        const place = { owner: provisioningKey(provisioning, role), field };
        await putCredential(tx, { ...place, ...vault.seal(new Secret(newPassword()), place) });
      }
    }
    return provisioning;
  });
}

/** A copy is at work too, or was: read once more after everybody has been told that they are not alone. */
async function join(db: Queryable, { id, operationId }: Provisioning): Promise<Provisioning> {
  await markAskedAgain(db, id);
  return await getProvisioning(db, operationId);
}
