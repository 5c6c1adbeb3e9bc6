import type {
  CountActiveInvestorsRequest,
  CountActiveInvestorsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { isBetween, validate } from "../domain/validate.ts";
import type { Deps } from "../deps.ts";
import { countActiveInvestors as count } from "../store/subscriptions.ts";

const MAX_LOGINS = 1_000;

/** Counts the active Investors of many Masters in one call; Masters without any are left out. */
export async function countActiveInvestors(
  { pool }: Deps,
  { masterLogins }: CountActiveInvestorsRequest,
): Promise<CountActiveInvestorsResponse> {
  validate(isBetween("master_logins", masterLogins.length, 1, MAX_LOGINS));
  return { counts: await count(pool, masterLogins) };
}
