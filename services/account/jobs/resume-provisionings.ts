import { callContext } from "#kernel/contract/context.ts";
import { Refusal } from "#kernel/refusal.ts";
import { fulfil } from "../processes/fulfil.ts";
import type { Deps } from "../deps.ts";
import { claimPending, getProvisioning, listUntidied, markTidied } from "../store/provisionings.ts";

const BATCH = 8;
const ATTEMPT_MS = 20_000;
/** Longer than an attempt, so that two processes never work on one order at once. */
const CLAIM_MS = 30_000;

/** Fulfils what a crash or a lost answer left half-made. True when there may be more. */
export async function resumeProvisionings(deps: Deps): Promise<boolean> {
  const now = deps.now().getTime();
  const claimed = await claimPending(deps.pool, { at: new Date(now), until: new Date(now + CLAIM_MS), limit: BATCH });
  await Promise.all(claimed.map(({ operationId }) => resume(deps, operationId)));
  return claimed.length === BATCH;
}

/** The first account of a pair that was refused for good is nobody's: it can neither connect nor trade. */
export async function tidyFailed(deps: Deps): Promise<boolean> {
  for (const { id, login } of await listUntidied(deps.pool, BATCH)) {
    if (login !== null) {
      await deps.platform.disableAccount({ login }, callContext({ caller: "account", withinMs: ATTEMPT_MS }));
      deps.log.warn("an account of a pair that could not be completed was disabled", { login });
    }
    await markTidied(deps.pool, id);
  }
  return false;
}

async function resume(deps: Deps, operationId: string): Promise<void> {
  try {
    const provisioning = await getProvisioning(deps.pool, operationId);
    await fulfil(deps, provisioning, callContext({ caller: "account", withinMs: ATTEMPT_MS, commandId: operationId }));
  } catch (error) {
    if (!(error instanceof Refusal)) {
      deps.log.error("accounts could not be created", { operation_id: operationId, error });
    }
  }
}
