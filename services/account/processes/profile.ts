import type { Labels, LabelsChange } from "#kernel/labels.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { changeLabels, externalIdInUse, type Profile, type ProfileKind, type ProfileOwner } from "../domain/profile.ts";
import {
  EXTERNAL_ID_CONSTRAINT,
  insertProfile,
  isExternalIdUsed,
  lockProfile,
  saveProfile,
} from "../store/profiles.ts";

/** Asked before the trading platform is, so that nothing is left there by a request that is refused. */
export async function requireFreeExternalId(db: Queryable, kind: ProfileKind, { externalId }: Labels): Promise<void> {
  if (externalId !== undefined && (await isExternalIdUsed(db, kind, externalId))) {
    throw externalIdInUse(kind, externalId);
  }
}

/** The profile of a new account or of the request for it, which has its external id from now on. */
export async function reserveProfile(tx: Transaction, owner: ProfileOwner, profile: Profile): Promise<void> {
  await insertProfile(tx, owner, profile).catch((error: unknown) => {
    throw refusedIfUsed(error, owner.kind, profile);
  });
}

/** Without an address the account keeps the one that it has. */
export async function changeProfile(
  tx: Transaction,
  { kind, login }: { readonly kind: ProfileKind; readonly login: string },
  { email, labels }: { readonly email?: string | undefined; readonly labels: LabelsChange | undefined },
): Promise<void> {
  if (email === undefined && labels === undefined) return;
  const before = await lockProfile(tx, login);
  const after = { ...before, ...(labels && changeLabels(before, labels)), ...(email !== undefined && { email }) };
  await saveProfile(tx, login, after).catch((error: unknown) => {
    throw refusedIfUsed(error, kind, after);
  });
}

/** The constraint decides between concurrent requests. */
function refusedIfUsed(error: unknown, kind: ProfileKind, { externalId = "" }: Profile): unknown {
  return violatedConstraint(error) === EXTERNAL_ID_CONSTRAINT ? externalIdInUse(kind, externalId) : error;
}
