import assert from "node:assert/strict";
import type { CallContext } from "#kernel/contract/contract.ts";
import { zero } from "#kernel/values/money.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import { Refusal, restated } from "#kernel/values/refusal.ts";
import type { CreateAccountRequest, CreateAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { checkNewAccount, decideGroup, decideLeverage } from "../domain/new-account.ts";
import { lostAfterMs } from "../domain/permit.ts";
import { refusalOfGate } from "../domain/permit-gate.ts";
import type { Role } from "../domain/role.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { roleFromProto } from "../protocol/history/account-moved.ts";
import { openLog, openOwnLog } from "../protocol/history/append-to-log.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { refuse } from "../refusals.ts";
import {
  changeLogin,
  type Creation,
  findCreation,
  insertCreation,
  isRegistered,
  markCreated,
  takeLogin,
} from "../store/account-creations.ts";
import { readClock } from "../store/clock.ts";
import { addAccount, type Added, exhausted, newUserOf, whoseAccount, unavailable } from "./add-account.ts";
import { repeatTransient } from "./repeat-transient.ts";
import { requireCurrency } from "./require-currency.ts";

/** Maximum logins that one request skips because another manager has created an account there. */
const MAX_SKIPPED = 50;

/**
 * Creates an account under a login that is chosen and recorded before the command is sent. So the call may be repeated
 * after any failure and creates one account only; after "login exists" the owner of the login is checked.
 */
export async function createAccount(
  deps: Deps,
  request: CreateAccountRequest,
  context: CallContext,
): Promise<CreateAccountResponse> {
  try {
    return await repeatTransient(context, () => createOnce(deps, request, context));
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "login_in_use" || !(await mayExist(deps, request))) throw error;
    throw restated(error, { outcome: "unknown" });
  }
}

async function createOnce(
  deps: Deps,
  request: CreateAccountRequest,
  context: CallContext,
): Promise<CreateAccountResponse> {
  checkNewAccount(request);
  const known = await findCreation(deps.pool, request.key);
  const { role, group, leverage } = await decideAccount(deps, request, known);
  if (known?.isCreated !== true) requireAllAccounts(deps);
  const { key } = request;
  let creation =
    known ?? (await recordLogin(deps, key, (tx, login) => insertCreation(tx, { key, role, group, login })));
  if (creation.role !== role || !["", creation.group].includes(request.group)) {
    throw refuse("creation_mismatch", "The key was used for another account.", { outcome: "not_executed" });
  }
  for (let skipped = 0; !creation.isCreated; skipped += 1) {
    if (skipped > MAX_SKIPPED) {
      throw unavailable(
        `More than ${MAX_SKIPPED} logins in a row have accounts of other managers. The next request goes on behind them.`,
      );
    }
    const present = creation;
    const added = await addAccount(deps, creation, { ...request, leverage }, context);
    creation =
      added === "of another"
        ? await recordLogin(deps, key, (tx, login) => changeLogin(tx, present, login))
        : await recordAdded(deps, creation, added);
  }
  return { login: creation.login };
}

/** A recorded group counts although it is not configured any more. So does an account that may exist, whatever is configured. */
async function decideAccount(
  { mt5, settings }: Deps,
  request: CreateAccountRequest,
  known: Creation | undefined,
): Promise<{ readonly role: Role; readonly group: string; readonly leverage: number }> {
  const role = roleFromProto(request.role);
  if (role === undefined) {
    throw refuse("validation_failed", "The account role is required.", { outcome: "not_executed" });
  }
  const isSent = known?.sentAt !== undefined;
  const group = known?.group ?? decideGroup(role, request.group, settings);
  const leverage = decideLeverage({ role, group, leverage: request.leverage, isSent }, settings);
  if (!isSent) {
    // One that the manager does not see is refused by the platform.
    const shown = await orUnavailable(mt5.getGroup(group));
    if (shown !== undefined) requireCurrency(group, shown);
  }
  return { role, group, leverage };
}

/** While permits are stopped the database may lack accounts that exist, also that of a caller who repeats a request of the lost time. */
function requireAllAccounts({ gate }: Deps): void {
  const stopped = refusalOfGate(gate.read());
  if (stopped !== undefined) throw stopped;
}

/** Allocates a login, and records it for the request. */
async function recordLogin(
  { pool, settings }: Deps,
  key: string,
  record: (tx: Transaction, login: string) => Promise<void>,
): Promise<Creation> {
  await inTransaction(pool, async (tx) => {
    const login = await takeLogin(tx, settings.loginRange);
    if (login === undefined) throw exhausted();
    await record(tx, login);
  });
  const recorded = await findCreation(pool, key);
  assert(recorded !== undefined, "the creation is recorded");
  return recorded;
}

/** Records the account and its log in one commit, so that a managed account always has entry 0. */
async function recordAdded(deps: Deps, creation: Creation, added: Exclude<Added, "of another">): Promise<Creation> {
  const { pool, settings, freshDeals } = deps;
  const { key, login, role, group } = creation;
  const account = { login, role, group };
  const openedAt = new Date(await readClock(pool));
  const readsFrom = new Date(openedAt.getTime() - CLOCK_WINDOW_MS);
  try {
    await inTransaction(pool, async (tx) => {
      if (added === "before") await openOwnLog(tx, settings.server, account);
      else await openLog(tx, { ...account, server: settings.server, opening: zero(), openedAt, readsFrom });
      await markCreated(tx, key);
    });
    freshDeals.add(login);
  } catch (error) {
    if (violatedConstraint(error) !== "log_entry_login_number_key") throw error;
    // Another request for the same key has finished it, or operators have registered its account since, with passwords of its own.
    if (await isRegistered(pool, key)) {
      throw refuse("login_in_use", `Account ${login}, which was created for this request, was registered since.`, {
        outcome: "not_executed",
      });
    }
  }
  return { ...creation, isCreated: true };
}

/**
 * Whatever refuses a request, an earlier command under its key may have created the account, also one of a process that crashed before
 * the answer. An account that the platform does not show after the quiet period does not exist.
 */
async function mayExist(deps: Deps, request: CreateAccountRequest): Promise<boolean> {
  const { pool, settings } = deps;
  const creation = await findCreation(pool, request.key);
  if (creation?.isCreated === true) return true;
  if (creation?.sentAt === undefined) return false;
  const lostAt = lostAfterMs(creation.sentAt.getTime(), settings.commandTimeoutMs);
  if ((await readClock(pool)) < lostAt + settings.quietPeriodMs) return true;
  return (await whoseAccount(deps, newUserOf(deps, request, creation)).catch(() => "ours")) === "ours";
}
