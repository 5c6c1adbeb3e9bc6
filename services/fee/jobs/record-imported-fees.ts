import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { retryLevel } from "#kernel/transient-failure.ts";
import { type ClaimedFee, type GetPermitsResponse, PermitState } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { recordImported } from "../processes/recovery/record-imported.ts";

const CALL_MS = 5_000;
/** Fees that are claimed in one call. */
const PAGE = 100;

/**
 * After a restore platform imports the fees that the database has lost. They are recorded as payments before operators can resume: then platform learns it. Those that
 * could not be recorded then, because an account could not be read, or a Master was not registered again, are recorded when they can. Idempotent, so after a crash it is repeated.
 */
export async function recordImportedFees(deps: Deps): Promise<boolean> {
  try {
    const permits = await deps.platform.getPermits({}, callOf());
    const isAwaited = awaitsReport(permits);
    if (isAwaited || permits.state === PermitState.GRANTED) await recordAll(deps, isAwaited);
    if (isAwaited) {
      await deps.platform.reportRecovered({ service: "fee", generation: permits.generation }, callOf());
    }
  } catch (error) {
    deps.log[retryLevel(error)]("fees of a lost time not recorded, retry scheduled", { error });
  }
  return false;
}

/** Everything that the database has lost is imported, and platform has not learnt of each service that it is in the books. */
function awaitsReport({ state, importComplete, blocking }: GetPermitsResponse): boolean {
  return state === PermitState.STOPPED && importComplete && blocking.some(({ code }) => code === "owner_not_recovered");
}

/** Page by page: the fees of a page are claimed when they are recorded. */
async function recordAll(deps: Deps, isAwaited: boolean): Promise<void> {
  const { platform, log, wakeSignals } = deps;
  for (let afterTransferId = 0n; ;) {
    const { fees } = await platform.listImportedFees({ afterTransferId, limit: PAGE }, callOf());
    const last = fees.at(-1);
    if (last === undefined) return;
    afterTransferId = last.transferId;
    const claimed: ClaimedFee[] = [];
    for (const fee of fees) {
      const { investorLogin: login, debitDealId: ticket } = fee;
      const claim = await recordImported(deps, fee, callOf());
      if (claim !== undefined) claimed.push(claim);
      else if (isAwaited) {
        log.error("imported fee belongs to no known Master or payment, manual check required", { login, ticket });
      }
    }
    if (claimed.length === 0) continue;
    await platform.claimImportedFees({ fees: claimed }, callOf());
    log.info("fees of a lost time recorded", { count: claimed.length });
    wakeSignals.payments.notify();
  }
}

function callOf(): CallContext {
  return callContext({ caller: "fee", withinMs: CALL_MS });
}
