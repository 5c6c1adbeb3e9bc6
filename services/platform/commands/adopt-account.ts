import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { AdoptAccountRequest, AdoptAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { Role } from "../domain/role.ts";
import type { User } from "../mt5/users.ts";
import { readAtCut, type Snapshot } from "../protocol/history/account-snapshot.ts";
import { roleFromProto } from "../protocol/history/account-moved.ts";
import { openLog, openOwnLog } from "../protocol/history/append-to-log.ts";
import { takeTrading, tradingBeingReturned } from "../protocol/change-account.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import { isBeingCreated } from "../store/account-creations.ts";
import { findAccount } from "../store/accounts.ts";
import { isOwnAccount } from "./add-account.ts";
import { requireCurrency } from "./require-currency.ts";
import { repeatTransient } from "./repeat-transient.ts";
import { readClock } from "../store/clock.ts";
import { insertAdoptedDeals } from "../store/deal-records.ts";
import { saveOpenPositions } from "../store/positions.ts";
import { keepTaken } from "../store/taken-rights.ts";

const LOGIN = /^[1-9]\d{0,17}$/;

/**
 * Takes an account under management. Its balance at one instant is the opening of its log, which covers all deals before that instant.
 * An account that this service has created, and whose records the database has lost, gets the log that it had: from 0.00 on, with all
 * its deals.
 */
export async function adoptAccount(
  deps: Deps,
  request: AdoptAccountRequest,
  context: CallContext,
): Promise<AdoptAccountResponse> {
  const { login } = request;
  const role = roleFromProto(request.role);
  if (role === undefined) throw refuse("validation_failed", "The account role is required.");
  await requireFree(deps, login, role);
  const user = await orUnavailable(deps.mt5.getUser(login));
  if (user === undefined) throw notShown(login);
  requireCurrency(user.group, await orUnavailable(deps.mt5.getGroup(user.group)));
  if (role === "payment") await keepFromTrading(deps, login);
  const isOwn = isOwnAccount(user, deps.settings.loginRange);
  const { group, balanceMinor } = isOwn
    ? await adoptOwn(deps, role, user, context)
    : await adoptOther(deps, login, role, context);
  return { login, group, balance: moneyToProto(usd(balanceMinor)) };
}

async function requireFree({ pool }: Deps, login: string, role: Role): Promise<void> {
  if (!LOGIN.test(login)) throw refuse("platform_account_not_found", "The login must have decimal digits only.");
  const account = await findAccount(pool, login);
  const isTaken = account === undefined ? await isBeingCreated(pool, login) : account.role !== role;
  if (isTaken) throw refuse("login_in_use", `Login ${login} is in use in another role.`);
}

/** A position that was opened before trading was disabled is seen after it: then the right is given back by a job. */
async function keepFromTrading(deps: Deps, login: string): Promise<void> {
  await requireNoPositions(deps, login);
  if (!deps.settings.takesTrading) return;
  if (!(await keepTaken(deps.pool, login))) throw tradingBeingReturned(login);
  if (!(await takeTrading(deps, login))) throw notShown(login);
  await requireNoPositions(deps, login);
}

async function requireNoPositions({ mt5 }: Deps, login: string): Promise<void> {
  const { length: open } = await orUnavailable(mt5.readPositions(login));
  if (open === 0) return;
  throw refuse(
    "payment_account_has_open_positions",
    `Account ${login} has open positions: ${open}. A payment account never trades: close them first.`,
    { outcome: "not_executed", details: { open_positions: String(open) } },
  );
}

async function adoptOwn(deps: Deps, role: Role, user: User, context: CallContext): Promise<User> {
  const { login, group } = user;
  const adopt = (tx: Transaction) => openOwnLog(tx, deps.settings.server, { login, role, group });
  await repeatTransient(context, () => adoptOnce(deps, login, role, adopt));
  deps.freshDeals.add(login);
  return user;
}

async function adoptOther(deps: Deps, login: string, role: Role, context: CallContext): Promise<Snapshot> {
  const snapshot = await orUnavailable(readAtCut(deps.mt5, login));
  if (snapshot === "not_shown") throw notShown(login);
  if (snapshot === "changes") {
    throw refuse(
      "platform_unavailable",
      `Account ${login} changed in each reading, because it is being traded on or credited. Nothing was registered. Send the request again when the account is quiet.`,
    );
  }
  const { group, balanceMinor, cut: readsFrom, deals, positions } = snapshot;
  const { server } = deps.settings;
  const adopt = async (tx: Transaction) => {
    const openedAt = new Date(await readClock(tx));
    await openLog(tx, { login, role, group, server, opening: usd(balanceMinor), openedAt, readsFrom });
    // A change of daylight saving may make their times later than the cut.
    await insertAdoptedDeals(
      tx,
      server,
      login,
      deals.map(({ ticket }) => ticket),
    );
    await saveOpenPositions(
      tx,
      login,
      positions.map(({ ticket: positionId, symbol, volume }) => ({ positionId, symbol, volume })),
    );
  };
  await repeatTransient(context, () => adoptOnce(deps, login, role, adopt));
  return snapshot;
}

/** Adopting an account twice has no further effect, also when both requests run at the same time. */
async function adoptOnce(
  { pool }: Deps,
  login: string,
  role: Role,
  adopt: (tx: Transaction) => Promise<void>,
): Promise<void> {
  try {
    await inTransaction(pool, async (tx) => {
      if ((await findAccount(tx, login)) === undefined) await adopt(tx);
    });
  } catch (error) {
    if (violatedConstraint(error) !== "log_entry_login_number_key") throw error;
  }
  if ((await findAccount(pool, login))?.role !== role) {
    throw refuse("login_in_use", `Login ${login} is in use in another role.`);
  }
}

function notShown(login: string): Error {
  return refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
}
