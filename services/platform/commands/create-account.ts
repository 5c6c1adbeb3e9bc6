import { setTimeout as delay } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { zero } from "#kernel/money.ts";
import { violatedConstraint } from "#kernel/postgres/failure.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { Refusal, restated, RETRY_AFTER_MS } from "#kernel/refusal.ts";
import { Secret } from "#kernel/secret.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import type { CreateAccountRequest, CreateAccountResponse } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import { lostAfterMs } from "../domain/permit.ts";
import { tagOf } from "../protocol/account-tag.ts";
import { checkNewAccount, decideGroup, decideLeverage } from "../domain/new-account.ts";
import type { CommandOutcome } from "../mt5/classify.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { RETCODE } from "../mt5/retcodes.ts";
import type { NewUser } from "../mt5/users.ts";
import { roleFromProto } from "../protocol/history/account-moved.ts";
import { openLog } from "../protocol/history/append-to-log.ts";
import { openOwnLog } from "../protocol/history/own-account.ts";
import { refuse } from "../refusals.ts";
import {
  changeLogin,
  type Creation,
  findCreation,
  getCreation,
  insertCreation,
  isRegistered,
  markCreated,
  markNotSent,
  markSent,
  takeLogin,
} from "../store/account-creations.ts";
import { readClock } from "../store/clock.ts";
import { findUnknownByTag } from "../store/unknown-accounts.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { refuseDuplicateAccount } from "./refuse-duplicate-account.ts";
import { orUnavailable } from "../protocol/unavailable.ts";
import { requireCurrency } from "./require-currency.ts";
import { repeatTransient } from "./repeat-transient.ts";
import { setPasswords } from "./set-passwords.ts";

/** Maximum logins that one request skips because another manager has created an account there. */
const MAX_SKIPPED = 50;
/** Pause before the account is sent again. A platform that restarts is back within seconds, and the caller waits for it. */
const RETRY_MS = 500;

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
  return (await ownerOf(deps, newUserOf(deps, request, creation)).catch(() => "ours")) === "ours";
}

async function createOnce(
  deps: Deps,
  request: CreateAccountRequest,
  context: CallContext,
): Promise<CreateAccountResponse> {
  checkNewAccount(request);
  const role = roleFromProto(request.role);
  if (role === undefined) {
    throw refuse("validation_failed", "The account role is required.", { outcome: "not_executed" });
  }
  const known = await findCreation(deps.pool, request.key);
  const group = known?.group ?? decideGroup(role, request.group, deps.settings);
  const isSent = known?.sentAt !== undefined;
  const leverage = decideLeverage({ role, group, leverage: request.leverage, isSent }, deps.settings);
  if (!isSent) {
    // One that the manager does not see is refused by the platform.
    const shown = await orUnavailable(deps.mt5.getGroup(group));
    if (shown !== undefined) requireCurrency(group, shown);
  }
  let creation = known ?? (await chooseLogin(deps, request, { key: request.key, role, group }));
  if (creation.role !== role || !["", creation.group].includes(request.group)) {
    throw refuse("creation_mismatch", "The key was used for another account.", { outcome: "not_executed" });
  }
  // The database of the caller may have been restored alone: then it repeats the key with passwords that are not those of the account.
  if (creation.isCreated) await setPasswords(deps, newUserOf(deps, request, creation));
  for (let skipped = 0; skipped <= MAX_SKIPPED && !creation.isCreated; skipped += 1) {
    const user = newUserOf(deps, { ...request, leverage }, creation);
    const owner = await addUser(deps, creation.key, user, context);
    if (owner === "ours before") {
      await requireUnregistered(deps, creation);
      await setPasswords(deps, user);
    }
    creation = owner === "other" ? await chooseNextLogin(deps, creation) : await finish(deps, creation, owner);
  }
  if (!creation.isCreated) {
    throw unavailable(
      `More than ${MAX_SKIPPED} logins in a row have accounts of other managers. The next request goes on behind them.`,
    );
  }
  return { login: creation.login };
}

async function chooseLogin(
  deps: Deps,
  { firstName, lastName, email }: CreateAccountRequest,
  order: Pick<Creation, "key" | "role" | "group">,
): Promise<Creation> {
  const { pool, settings } = deps;
  const { role, group } = order;
  // After a restore of the database the account of the key may exist.
  const found = await findUnknownByTag(pool, tagOf(order.key));
  // A payment account comes after the trading account of its Master, which was compared.
  const isCompared = found === undefined && role !== "payment";
  if (isCompared) await refuseDuplicateAccount(deps, { group, firstName, lastName, email });
  await inTransaction(pool, async (tx) => {
    const login = found ?? (await takeLogin(tx, settings.loginRange));
    if (login === undefined) throw exhausted();
    await insertCreation(tx, { ...order, login });
  });
  return await getCreation(pool, order.key);
}

/** `ours before`: an earlier request has created the account, perhaps one that the database has lost. */
type Owner = "ours" | "ours before" | "other";

/** Repeats until the platform shows who owns the account of the login, or the caller's deadline is near. */
async function addUser(deps: Deps, key: string, user: NewUser, context: CallContext): Promise<Owner> {
  for (;;) {
    // Recorded first: after a crash behind this line the account may exist.
    const sent = await markSent(deps.pool, key);
    const added = await deps.mt5.addUser(user).catch(asOutcome);
    const refusedWith = added.kind === "refused" && added.code !== RETCODE.loginExists ? added.code : undefined;
    const isNotSent = added.kind === "not_sent" || refusedWith !== undefined;
    const owner = isNotSent ? undefined : await ownerOf(deps, user).catch(() => undefined);
    if (isNotSent || owner === "other") await markNotSent(deps.pool, key, sent);
    if (refusedWith !== undefined) throw rejected(refusedWith);
    if (owner !== undefined) return owner === "ours" && added.kind === "refused" ? "ours before" : owner;
    if (remainingMs(context) < RETRY_MS + REPLY_RESERVE_MS) {
      throw unavailable("The trading platform did not answer.");
    }
    await delay(RETRY_MS);
  }
}

/** Undefined when there is no such account. The account is ours when its comment is the tag, or its password is the one sent. */
async function ownerOf({ mt5 }: Deps, user: NewUser): Promise<"ours" | "other" | undefined> {
  const found = await mt5.getUser(user.login);
  if (found === undefined) return undefined;
  if (found.comment === user.comment) return "ours";
  return (await mt5.checkPassword(user.login, user.mainPassword)) ? "ours" : "other";
}

function asOutcome(error: unknown): CommandOutcome {
  if (error instanceof Mt5Error) return { kind: "not_sent", reason: "closed" };
  throw error;
}

/** Records the account and its log in one commit, so that a managed account always has entry 0. */
async function finish(deps: Deps, creation: Creation, owner: Exclude<Owner, "other">): Promise<Creation> {
  const { pool, settings } = deps;
  const { key, login, role, group } = creation;
  const account = { login, role, group };
  const openedAt = new Date(await readClock(pool));
  const readsFrom = new Date(openedAt.getTime() - CLOCK_WINDOW_MS);
  try {
    await inTransaction(pool, async (tx) => {
      if (owner === "ours before") await openOwnLog(tx, settings.server, account);
      else await openLog(tx, { ...account, server: settings.server, opening: zero(), openedAt, readsFrom });
      await markCreated(tx, key);
    });
    deps.freshDeals.add(login);
  } catch (error) {
    if (violatedConstraint(error) !== "log_entry_login_number_key") throw error;
    // Otherwise another request for the same key has finished it.
    await requireUnregistered(deps, creation);
  }
  return { ...creation, isCreated: true };
}

/** The account of a creation that did not end may have been registered since, with passwords of its own. */
async function requireUnregistered({ pool }: Deps, { key, login }: Creation): Promise<void> {
  if (!(await isRegistered(pool, key))) return;
  throw refuse("login_in_use", `Account ${login}, which was created for this request, was registered since.`, {
    outcome: "not_executed",
  });
}

async function chooseNextLogin({ pool, settings }: Deps, creation: Creation): Promise<Creation> {
  await inTransaction(pool, async (tx) => {
    const login = await takeLogin(tx, settings.loginRange);
    if (login === undefined) throw exhausted();
    await changeLogin(tx, creation, login);
  });
  return await getCreation(pool, creation.key);
}

function newUserOf({ settings }: Deps, request: CreateAccountRequest, { key, login, group, role }: Creation): NewUser {
  return {
    login,
    group,
    firstName: request.firstName,
    lastName: request.lastName,
    email: request.email,
    leverage: request.leverage,
    comment: tagOf(key),
    mayTrade: role === "master" || !settings.takesTrading,
    mainPassword: new Secret(request.mainPassword),
    investorPassword: new Secret(request.investorPassword),
  };
}

function rejected(code: number): Error {
  if (code === RETCODE.loginsExhausted) return exhausted();
  if (code === RETCODE.tooFrequent) {
    return unavailable(
      "The trading platform refuses more requests at this rate. Send the request again after the time in Retry-After.",
    );
  }
  return refuse("platform_rejected", `The trading platform refused the account with code ${code}.`, {
    outcome: "not_executed",
    details: { platform_code: String(code) },
  });
}

function unavailable(message: string): Error {
  return refuse("platform_unavailable", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

function exhausted(): Error {
  return refuse("login_range_exhausted", "No login is left in MT5_LOGIN_RANGE. An operator must extend the range.", {
    outcome: "not_executed",
  });
}
