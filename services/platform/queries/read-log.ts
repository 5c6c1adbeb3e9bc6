import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { ReadLogRequest, ReadLogResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { accountMoved } from "../protocol/history/account-moved.ts";
import { refuse } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { listEntries } from "../store/log.ts";

export async function readLog({ pool }: Deps, request: ReadLogRequest): Promise<ReadLogResponse> {
  const { login, afterNumber, limit } = request;
  if (limit < 1 || limit > MAX_PAGE_SIZE) {
    throw refuse("validation_failed", `The limit must be from 1 to ${MAX_PAGE_SIZE}.`);
  }
  const account = await findAccount(pool, login);
  if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  const entries = await listEntries(pool, login, afterNumber, limit);
  // The log may have grown between the two statements.
  const last = entries.at(-1)?.number ?? 0n;
  return { entries: entries.map(accountMoved), lastNumber: last > account.logNumber ? last : account.logNumber };
}
