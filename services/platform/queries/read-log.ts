import type { ReadLogRequest, ReadLogResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { accountMoved } from "../protocol/history/account-moved.ts";
import { notManaged, requireLimit } from "../refusals.ts";
import { findAccount } from "../store/accounts.ts";
import { listEntries } from "../store/log.ts";

export async function readLog({ pool }: Deps, request: ReadLogRequest): Promise<ReadLogResponse> {
  const { login, afterNumber, limit } = request;
  requireLimit(limit);
  const account = await findAccount(pool, login);
  if (account === undefined) throw notManaged(login);
  const entries = await listEntries(pool, login, afterNumber, limit);
  // The log may have grown between the two statements.
  const last = entries.at(-1)?.number ?? 0n;
  return { entries: entries.map(accountMoved), lastNumber: last > account.logNumber ? last : account.logNumber };
}
