import type { Labels } from "#kernel/values/labels.ts";
import { refuse } from "../refusals.ts";

export type ProfileKind = "MASTER" | "INVESTOR";

/** What its client says of an account. */
export type Profile = { readonly email: string | undefined; readonly labels: Labels | undefined };

/** An account, or the request that creates one. */
export type ProfileOwner = {
  readonly kind: ProfileKind;
  readonly login?: string | undefined;
  readonly operationId?: string | undefined;
};

const ROLES: Readonly<Record<ProfileKind, string>> = { MASTER: "Master", INVESTOR: "Investor" };

export function externalIdInUse(kind: ProfileKind, externalId: string): Error {
  const message = `Another ${ROLES[kind]} has the external_id ${externalId}.`;
  const errors = [{ field: "external_id", code: "external_id_in_use", message }];
  return refuse("external_id_in_use", message, { errors, outcome: "not_executed" });
}
