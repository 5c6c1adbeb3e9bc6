import { moneyToProto } from "#kernel/contract/money.ts";
import { type Money, usd } from "#kernel/money.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { RETRY_AFTER_MS } from "#kernel/refusal.ts";
import type { AdoptAccountRequest, AdoptAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { OpenPosition } from "../domain/open-positions.ts";
import type { Role } from "../domain/role.ts";
import { roleFromProto } from "../protocol/history/account-moved.ts";
import { openLog } from "../protocol/history/append-to-log.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { isBeingCreated } from "../store/account-creations.ts";
import { findAccount } from "../store/accounts.ts";
import { readClock } from "../store/clock.ts";
import { insertAdoptedDeals } from "../store/explained-deals.ts";
import { saveOpenPositions } from "../store/positions.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";

/** The account at one moment. */
type Snapshot = {
  readonly group: string;
  readonly balance: Money;
  readonly positions: readonly OpenPosition[];
  readonly tickets: readonly bigint[];
  readonly takenAt: Date;
  readonly readsFrom: Date;
};

/** Maximum tries to read an account whose history changes during the read. */
const MAX_TRIES = 5;
const LOGIN = /^[1-9]\d{0,17}$/;

/**
 * Takes an account under management. Its balance is the opening of its log; its earlier deals are covered by the opening
 * and never become entries, so the tickets of the deals that the reader may read again are recorded.
 */
export async function adoptAccount(deps: Deps, request: AdoptAccountRequest): Promise<AdoptAccountResponse> {
  const { login } = request;
  const role = roleFromProto(request.role);
  if (role === undefined) throw refuse("validation_failed", "The account role is required.");
  await requireFree(deps, login, role);
  const snapshot = await orUnavailable(takeSnapshot(deps, login));
  if (snapshot === undefined) {
    throw refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
  }
  await adopt(deps, login, role, snapshot);
  return { login, group: snapshot.group, balance: moneyToProto(snapshot.balance) };
}

async function requireFree({ pool }: Deps, login: string, role: Role): Promise<void> {
  if (!LOGIN.test(login)) throw refuse("platform_account_not_found", "The login must have decimal digits only.");
  const account = await findAccount(pool, login);
  const isTaken = account === undefined ? await isBeingCreated(pool, login) : account.role !== role;
  if (isTaken) throw refuse("login_in_use", `Login ${login} is in use in another role.`);
}

/** Consistent balance, positions and deals: the history did not change while they were read. */
async function takeSnapshot({ mt5, pool }: Deps, login: string): Promise<Snapshot | undefined> {
  const takenAt = new Date(await readClock(pool));
  // The opening covers all older deals.
  const readsFrom = new Date(takenAt.getTime() - CLOCK_WINDOW_MS);
  const period = { from: readsFrom, to: new Date(takenAt.getTime() + CLOCK_WINDOW_MS) };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = await mt5.getUser(login);
    if (before === undefined) return undefined;
    const deals = await mt5.readDeals(login, period);
    const positions = await mt5.readPositions(login);
    const again = await mt5.readDeals(login, period);
    const after = await mt5.getUser(login);
    if (after?.balanceMinor !== before.balanceMinor || again.length !== deals.length) continue;
    return {
      group: before.group,
      balance: usd(before.balanceMinor),
      positions: positions.map(({ ticket: positionId, symbol, volume }) => ({ positionId, symbol, volume })),
      tickets: deals.map(({ ticket }) => ticket),
      takenAt,
      readsFrom,
    };
  }
  throw refuse("platform_unavailable", `Account ${login} is being traded on and cannot be read. Retry shortly.`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

/** Adopting an account twice has no further effect, also when both requests run at the same time. */
async function adopt({ pool, settings }: Deps, login: string, role: Role, snapshot: Snapshot): Promise<void> {
  const { group, balance: opening, takenAt: openedAt, readsFrom, tickets, positions } = snapshot;
  const { server } = settings;
  try {
    await inTransaction(pool, async (tx) => {
      if ((await findAccount(tx, login)) !== undefined) return;
      await openLog(tx, { login, role, group, server, opening, openedAt, readsFrom });
      await insertAdoptedDeals(tx, server, login, tickets);
      await saveOpenPositions(tx, login, positions);
    });
  } catch (error) {
    if (violatedConstraint(error) !== "log_entry_login_number_key") throw error;
  }
  if ((await findAccount(pool, login))?.role !== role) {
    throw refuse("login_in_use", `Login ${login} is in use in another role.`);
  }
}
