import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable, withReplyReserve } from "#kernel/contract/deadlines.ts";
import type { Labels } from "#kernel/labels.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { RECOVERY_GRACE_MS } from "#kernel/retry.ts";
import { Secret } from "#kernel/secret.ts";
import type { Deps } from "../deps.ts";
import { provisioningKey, rolesOf, type NewProvisioning, type Provisioning } from "../domain/provisioning.ts";
import { putCredential } from "../store/credentials.ts";
import { findProvisioning, getProvisioning, insertProvisioning, markRepeated } from "../store/provisionings.ts";
import { fulfil } from "./fulfil.ts";
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
