import { SERVICE_NAMES } from "#catalogue/services.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { keyHash } from "#kernel/values/key-hash.ts";
import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type {
  ClaimedFee,
  ClaimImportedFeesRequest,
  ClaimImportedFeesResponse,
  ReportRecoveredRequest,
  ReportRecoveredResponse,
} from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { recordedFeeKey } from "../domain/imported-leg.ts";
import { refuse } from "../refusals.ts";
import { claimImportedFees as claimFees } from "../store/imported-legs.ts";
import { readGeneration } from "../store/permit-gate.ts";
import { insertRecoveryStep } from "../store/recovery.ts";

/** Gives imported fees the keys of the payments that they were: each is one transfer under that key from then on. */
export async function claimImportedFees(
  { pool, legsSignal }: Pick<Deps, "pool" | "legsSignal">,
  { fees }: ClaimImportedFeesRequest,
): Promise<ClaimImportedFeesResponse> {
  if (fees.length < 1 || fees.length > MAX_PAGE_SIZE || !fees.every(isOwnKey)) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} fees, each with a key of its hash.`);
  }
  const claimed = fees.map(({ keyHash: hash, key, paymentAccountLogin: creditLogin, due }) => {
    return { hash, key, creditLogin, requestedMinor: moneyFromProto(due, "due").minor };
  });
  await inTransaction(pool, (tx) => claimFees(tx, claimed));
  legsSignal.notify();
  return {};
}

function isOwnKey({ keyHash: hash, key }: ClaimedFee): boolean {
  return key === recordedFeeKey(hash) || keyHash(key) === hash;
}

/** Records that a service has repaired its books by all that was imported until the generation. Permits can be resumed when all have. */
export async function reportRecovered(
  { pool }: Pick<Deps, "pool">,
  { service, generation }: ReportRecoveredRequest,
): Promise<ReportRecoveredResponse> {
  const isKnown = SERVICE_NAMES.some((name) => name === service);
  if (!isKnown) throw refuse("validation_failed", "The field service names no service.");
  await inTransaction(pool, async (tx) => {
    if ((await readGeneration(tx)) !== generation) {
      throw refuse("outdated", "More was imported, or the database was replaced, since the service has read what was.");
    }
    await insertRecoveryStep(tx, service, generation);
  });
  return {};
}
