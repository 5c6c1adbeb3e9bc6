import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { remainingMs } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { REPLY_RESERVE_MS } from "#kernel/contract/deadlines.ts";
import { RETRY_AFTER_MS } from "#kernel/values/refusal.ts";
import { Secret } from "#kernel/values/secret.ts";
import type { CreateAccountRequest } from "#proto/pamm/platform/v1/platform.ts";
import type { Deps } from "../deps.ts";
import type { CommandOutcome } from "../mt5/classify.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { RETCODE } from "../mt5/retcodes.ts";
import type { NewUser } from "../mt5/users.ts";
import { refuse } from "../refusals.ts";
import { type Creation, markNotSent, markSent } from "../store/account-creations.ts";

/** Pause before the account is sent again. A platform that restarts is back within seconds, and the caller waits for it. */
const RETRY_MS = 500;

/** The account exists: created `now`, or `before` by an earlier request of the key, perhaps one that the database has lost. */
export type Added = "now" | "before" | "of another";

/** Sends the account under its login until the platform shows whose account that is, or the caller's deadline is near. */
export async function addAccount(
  deps: Deps,
  creation: Creation,
  request: CreateAccountRequest,
  context: CallContext,
): Promise<Added> {
  const { pool, mt5 } = deps;
  const user = newUserOf(deps, request, creation);
  for (;;) {
    // Recorded first: after a crash behind this line the account may exist.
    const sent = await markSent(pool, creation.key);
    const answer = await mt5.addUser(user).catch(asNotSent);
    const refusedWith = answer.kind === "refused" ? answer.code : undefined;
    const isThere = refusedWith === RETCODE.loginExists;
    const mayBeThere = isThere || answer.kind === "done" || answer.kind === "unknown";
    const found = mayBeThere ? await whoseAccount(deps, user).catch(() => undefined) : undefined;
    if (found === "ours") return isThere ? "before" : "now";
    const isNotCreated = refusedWith !== undefined || answer.kind === "not_sent" || found === "other";
    const isNeverSent = isNotCreated && (await markNotSent(pool, creation.key, sent));
    if (refusedWith !== undefined && !isThere) throw refusalOf(refusedWith);
    // The platform need not show it: it is archived, or in a group that this manager does not see.
    if (found === "other" || (isThere && isNeverSent)) return "of another";
    if (remainingMs(context) < RETRY_MS + REPLY_RESERVE_MS) {
      throw unavailable("The trading platform did not answer.");
    }
    await delay(RETRY_MS);
  }
}

export function newUserOf(
  { settings }: Deps,
  request: CreateAccountRequest,
  { key, login, group, role }: Creation,
): NewUser {
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

/** Undefined when there is no such account. The account is ours when its comment is the tag, or its password is the one sent. */
export async function whoseAccount({ mt5 }: Deps, user: NewUser): Promise<"ours" | "other" | undefined> {
  const found = await mt5.getUser(user.login);
  if (found === undefined) return undefined;
  if (found.comment === user.comment) return "ours";
  return (await mt5.checkPassword(user.login, user.mainPassword)) ? "ours" : "other";
}

function asNotSent(error: unknown): CommandOutcome {
  if (error instanceof Mt5Error) return { kind: "not_sent", reason: "closed" };
  throw error;
}

function refusalOf(code: number): Error {
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

/** Of the command that was just sent. createAccount knows whether an earlier one may have created the account. */
export function unavailable(message: string): Error {
  return refuse("platform_unavailable", message, { outcome: "not_executed", retryAfterMs: RETRY_AFTER_MS });
}

export function exhausted(): Error {
  return refuse("login_range_exhausted", "No login is left in MT5_LOGIN_RANGE. An operator must extend the range.", {
    outcome: "not_executed",
  });
}

const TAG = /^PAMM [0-9a-f]{32}$/;

/** The comment of an account that this service creates: always the same for a key, and not to be confused with that of a dealer. */
function tagOf(key: string): string {
  return `PAMM ${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

type Range = { readonly first: bigint; readonly last: bigint };

/** Whether an account with this login and comment was created by this service; another installation has another range of logins. */
export function isOwnAccount({ login, comment }: { login: string; comment: string }, { first, last }: Range): boolean {
  return TAG.test(comment) && BigInt(login) >= first && BigInt(login) <= last;
}
