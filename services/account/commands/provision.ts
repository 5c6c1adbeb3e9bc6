import { childContext, remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isTransient } from "#kernel/postgres/failure.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import { CommitUnknown, inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal } from "#kernel/refusal.ts";
import { Secret } from "#kernel/secret.ts";
import type { Deps } from "../deps.ts";
import { provisioningKey, rolesOf, type NewProvisioning, type Provisioning } from "../domain/provisioning.ts";
import { refuse } from "../refusals.ts";
import { putCredential } from "../store/credentials.ts";
import { findProvisioning, getProvisioning, insertProvisioning, markAskedAgain } from "../store/provisionings.ts";
import { fulfil } from "./fulfil.ts";

/** The settling job looks at a wish that its request could not fulfil after the request is over. */
const AFTER_DEADLINE_MS = 1_000;
const ANSWER_RESERVE_MS = 500;
const RETRY_AFTER_MS = 1_000;

/** Creates the accounts of a wish once, however often the same command id asks for it. */
export async function provision(deps: Deps, wish: NewProvisioning, context: CallContext): Promise<Provisioning> {
  const recorded = await record(deps, wish, context);
  const patience = childContext(context, {
    commandId: context.commandId,
    withinMs: remainingMs(context) - ANSWER_RESERVE_MS,
  });
  return await fulfil(deps, recorded, patience);
}

/** The wish with its passwords, sealed, before the platform hears of it: a crash leaves a question rather than a stray account. */
async function record(
  { pool, vault, newPassword, now }: Deps,
  wish: NewProvisioning,
  { deadline }: CallContext,
): Promise<Provisioning> {
  try {
    const known = await findProvisioning(pool, wish.operationId);
    return (
      (known && (await join(pool, known))) ??
      (await inTransaction(pool, async (tx) => {
        const nextTryAt = new Date(deadline.getTime() + AFTER_DEADLINE_MS);
        const provisioning = await insertProvisioning(tx, wish, { at: now(), nextTryAt });
        if (provisioning === undefined) {
          return await join(tx, await getProvisioning(tx, wish.operationId));
        }
        for (const role of rolesOf(wish)) {
          for (const field of ["main", "investor"] as const) {
            const place = { owner: provisioningKey(provisioning, role), field };
            await putCredential(tx, { ...place, ...vault.seal(new Secret(newPassword()), place) });
          }
        }
        return provisioning;
      }))
    );
  } catch (error) {
    if (isTransient(error) && !(error instanceof CommitUnknown) && !(error instanceof Refusal)) {
      throw refuse("service_unavailable", "A required service cannot be reached. Nothing was executed.", {
        outcome: "not_executed",
        retryAfterMs: RETRY_AFTER_MS,
      });
    }
    throw error;
  }
}

/** A copy is at work too, or was: read once more after everybody has been told that they are not alone. */
async function join(db: Queryable, { id, operationId }: Provisioning): Promise<Provisioning> {
  await markAskedAgain(db, id);
  return await getProvisioning(db, operationId);
}
