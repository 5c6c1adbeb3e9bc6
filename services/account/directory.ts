import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { usdToProto } from "#kernel/contract/money.ts";
import type { Queryable } from "#kernel/postgres/query.ts";
import type { Master as MasterMessage } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "./deps.ts";
import { ROLE_NAMES } from "./domain/decide-registration.ts";
import { refuse } from "./refusals.ts";
import { findAccounts } from "./store/accounts.ts";
import { findInvestorById } from "./store/investors.ts";
import { type Closing, ClosingState } from "#proto/pamm/subscription/v1/subscription.ts";
import type { ClosingState as State, Investor, Master } from "./domain/master.ts";

export async function getMasterById({ reads }: Deps, id: bigint): Promise<Master> {
  const master = await reads.masterById(id);
  if (master !== undefined) return master;
  throw refuse("master_not_found", `No Master has the id ${id}. This route takes the internal id, not the login.`);
}

export async function getMasterByLogin({ pool, reads }: Deps, login: string): Promise<Master> {
  const master = await reads.masterByLogin(login);
  if (master !== undefined) return master;
  throw refuse("master_not_found", await whyNotFound(pool, login, "Master"));
}

export async function getInvestorById({ pool }: Deps, id: bigint): Promise<Investor> {
  const investor = await findInvestorById(pool, id);
  if (investor !== undefined) return investor;
  throw refuse("investor_not_found", `No Investor has the id ${id}. This route takes the internal id, not the login.`);
}

export async function getInvestorByLogin({ pool, reads }: Deps, login: string): Promise<Investor> {
  const investor = await reads.investorByLogin(login);
  if (investor !== undefined) return investor;
  throw refuse("investor_not_found", await whyNotFound(pool, login, "Investor"));
}

/** The message why no `wanted` has this login: it has another role, or it is not registered. */
async function whyNotFound(db: Queryable, login: string, wanted: "Master" | "Investor"): Promise<string> {
  const [account] = await findAccounts(db, [login]);
  if (account === undefined) return `No ${wanted} has the login ${login}.`;
  return `${login} is ${ROLE_NAMES[account.kind]}, not ${wanted === "Master" ? "a Master" : "an Investor"}.`;
}

/** The number of active Investors of each Master, read from subscription; Masters without any are left out. */
export async function countInvestors(
  { subscriptions }: Deps,
  masterLogins: readonly string[],
  context: CallContext,
): Promise<Map<string, bigint>> {
  if (masterLogins.length === 0) return new Map();
  const { counts } = await subscriptions.countActiveInvestors({ masterLogins: [...masterLogins] }, context);
  return new Map(counts.map(({ masterLogin, investors }) => [masterLogin, investors]));
}

/** The number of one Master, also for a command: the call does not carry its command id. */
export async function countInvestorsOf(deps: Deps, masterLogin: string, context: CallContext): Promise<bigint> {
  const counts = await countInvestors(deps, [masterLogin], childContext(context));
  return counts.get(masterLogin) ?? 0n;
}

/** The closing of a Master, read from subscription; undefined while none has begun. The call does not carry the command id. */
export async function findClosing(
  { subscriptions }: Pick<Deps, "subscriptions">,
  masterLogin: string,
  context: CallContext,
): Promise<Closing | undefined> {
  return (await subscriptions.getClosing({ masterLogin }, childContext(context))).closing;
}

export function stateOf(closing: Closing | undefined): State | undefined {
  if (closing === undefined) return undefined;
  return closing.state === ClosingState.ARCHIVED ? "archived" : "closing";
}

export function masterMessage(stored: Master, investorsCount?: bigint): MasterMessage {
  const { paymentLogin, minDeposit, acceptingSince: _since, ...master } = stored;
  return { ...master, paymentAccountLogin: paymentLogin, minDeposit: usdToProto(minDeposit), investorsCount };
}
