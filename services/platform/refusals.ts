import { MAX_PAGE_SIZE } from "#kernel/values/page.ts";
import { type Refusal, refusalsOf } from "#kernel/values/refusal.ts";
import { REVIEW_REFUSALS } from "#kernel/review/refusals.ts";

/** All refusals of this service. A recorded transfer is answered with its result instead, also when that is REFUSED. */
export const { refuse, refusals } = refusalsOf({
  ...REVIEW_REFUSALS,
  validation_failed: "invalid",
  group_not_allowed: "invalid",
  login_range_exhausted: "conflict",
  platform_rejected: "rejected",
  platform_unavailable: "unavailable",
  safety_stop: "unavailable",
  platform_account_not_found: "not_found",
  login_in_use: "conflict",
  payment_account_has_open_positions: "conflict",
  login_not_managed: "not_found",
  creation_mismatch: "conflict",
  account_archived: "conflict",
  currency_not_supported: "invalid",
  account_busy: "conflict",
  busy: "busy",
  possible_duplicate: "conflict",
  lock_not_owned: "conflict",
  outdated: "conflict",
  transfer_mismatch: "conflict",
});

export function notManaged(login: string): Refusal {
  return refuse("login_not_managed", `Account ${login} is not managed by this service.`);
}

/** Throws unless a request asks for a page, or names that many of something. */
export function requireLimit(limit: number): void {
  if (limit >= 1 && limit <= MAX_PAGE_SIZE) return;
  throw refuse("validation_failed", `The limit must be from 1 to ${MAX_PAGE_SIZE}.`);
}

export function requireSome(asked: readonly unknown[], what: string): void {
  if (asked.length >= 1 && asked.length <= MAX_PAGE_SIZE) return;
  throw refuse("validation_failed", `A request has 1 to ${MAX_PAGE_SIZE} ${what}.`);
}
