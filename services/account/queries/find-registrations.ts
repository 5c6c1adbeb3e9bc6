import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import {
  AccountKind,
  type FindRegistrationsRequest,
  type FindRegistrationsResponse,
} from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { operationOf } from "../domain/provisioning.ts";
import { refuse } from "../refusals.ts";
import { listRecorded } from "../store/accounts.ts";

const KINDS = ["MASTER", "PAYMENT", "INVESTOR"] as const;

/** A request for new accounts is recorded before platform is called, so an account of it is found at any time. */
export async function findRegistrations(
  { pool }: Pick<Deps, "pool">,
  { accounts }: FindRegistrationsRequest,
): Promise<FindRegistrationsResponse> {
  if (accounts.length < 1 || accounts.length > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} accounts.`);
  }
  const managed = accounts.flatMap(({ login, kind: wanted, key }) => {
    const kind = KINDS.find((name) => AccountKind[name] === wanted);
    return kind === undefined ? [] : [{ login, kind, operationId: operationOf(key) }];
  });
  return { logins: await listRecorded(pool, managed) };
}
