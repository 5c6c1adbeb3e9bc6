import { changed, labelErrors, type Labels } from "#kernel/values/labels.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { LabelsChange } from "#proto/pamm/common/v1/labels.ts";
import { checkAll } from "../domain/checks.ts";
import { externalIdInUse, type Profile, type ProfileKind, type ProfileOwner } from "../domain/profile.ts";
import { EXTERNAL_ID_INDEX, insertProfile, isExternalIdUsed, lockProfile, saveProfile } from "../store/profiles.ts";

/** Asked before the trading platform is, so that nothing is left there by a request that is refused. */
export async function requireFreeExternalId(
  db: Queryable,
  kind: ProfileKind,
  labels: Labels | undefined,
): Promise<void> {
  const externalId = labels?.externalId;
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

/** Without an address the account keeps the one that it has. All mistakes of the labels after the change are reported at once. */
export async function changeProfile(
  tx: Transaction,
  { kind, login }: { readonly kind: ProfileKind; readonly login: string },
  change: { readonly email?: string | undefined; readonly labels?: LabelsChange | undefined },
): Promise<void> {
  if (change.email === undefined && change.labels === undefined) return;
  const before = await lockProfile(tx, login);
  const labels = change.labels === undefined ? before.labels : changed(before.labels, change.labels);
  checkAll(...labelErrors(labels));
  const after = { email: change.email ?? before.email, labels };
  await saveProfile(tx, login, after).catch((error: unknown) => {
    throw refusedIfUsed(error, kind, after);
  });
}

/** The constraint decides between concurrent requests. */
function refusedIfUsed(error: unknown, kind: ProfileKind, { labels }: Profile): unknown {
  return violatedConstraint(error) === EXTERNAL_ID_INDEX ? externalIdInUse(kind, labels?.externalId ?? "") : error;
}
