import type { Labels } from "#kernel/labels.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { Deps } from "../deps.ts";
import { externalIdInUse, type ProfileKind } from "../domain/profile.ts";
import { EXTERNAL_ID_CONSTRAINT, isExternalIdUsed } from "../store/profiles.ts";

/** Asked before the trading platform is, so that nothing is left there by a request that is refused. */
export async function requireFreeExternalId(
  { pool }: Pick<Deps, "pool">,
  kind: ProfileKind,
  { externalId }: Labels,
): Promise<void> {
  if (externalId !== undefined && (await isExternalIdUsed(pool, kind, externalId))) {
    throw externalIdInUse(kind, externalId);
  }
}

/** The constraint decides between concurrent requests. */
export async function withFreeExternalId<T>(
  kind: ProfileKind,
  { externalId = "" }: Pick<Labels, "externalId">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw violatedConstraint(error) === EXTERNAL_ID_CONSTRAINT ? externalIdInUse(kind, externalId) : error;
  }
}
