import type { LabelsChange } from "#kernel/labels.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { changeLabels, type ProfileKind } from "../domain/profile.ts";
import { lockLabels, saveProfile } from "../store/profiles.ts";

const SAME: LabelsChange = { externalId: undefined, set: {}, removed: [] };

/** Changes the labels and the e-mail address of an account, one change after the other. */
export async function relabel(
  tx: Transaction,
  account: { readonly kind: ProfileKind; readonly login: string },
  change: LabelsChange = SAME,
  email?: string,
): Promise<void> {
  const labels = changeLabels(await lockLabels(tx, account.kind, account.login), change);
  await saveProfile(tx, account, { email, labels });
}
