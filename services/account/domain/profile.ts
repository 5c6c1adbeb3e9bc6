import { changed, labelErrors, type Labels, type LabelsChange } from "#kernel/labels.ts";
import { refuse } from "../refusals.ts";

export type ProfileKind = "MASTER" | "INVESTOR";

/** What its client says of an account. */
export type Profile = Labels & { readonly email: string | undefined };

/** An account, or the request that creates one. */
export type ProfileOwner = {
  readonly kind: ProfileKind;
  readonly login?: string | undefined;
  readonly operationId?: string | undefined;
};

/** The labels after a change, all mistakes of which are reported at once. */
export function changeLabels(labels: Labels, change: LabelsChange): Labels {
  const next = changed(labels, change);
  const errors = labelErrors(next);
  if (errors.length === 0) return next;
  throw refuse("validation_failed", "The request is invalid.", { errors, outcome: "not_executed" });
}

const ROLES: Readonly<Record<ProfileKind, string>> = { MASTER: "Master", INVESTOR: "Investor" };

export function externalIdInUse(kind: ProfileKind, externalId: string): Error {
  const message = `Another ${ROLES[kind]} has the external_id ${externalId}.`;
  const errors = [{ field: "external_id", code: "external_id_in_use", message }];
  return refuse("external_id_in_use", message, { errors, outcome: "not_executed" });
}
