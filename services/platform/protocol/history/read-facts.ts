import type { Deps } from "../../deps.ts";
import type { Position } from "../../mt5/positions.ts";
import { refuse } from "../../refusals.ts";
import { type Account, findAccount } from "../../store/accounts.ts";
import { listOpenPositions } from "../../store/positions.ts";
import { readLogin } from "./read-history.ts";

/** An account as the platform shows it and as the log has it. */
export type Facts = {
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
  readonly account: Account;
  /** The platform and the log agree: no change is still unread. */
  readonly isComplete: boolean;
};

/**
 * Reads balance and positions before the history: an event between the reads is only in the log and shows as a difference,
 * and a later event is in neither of them.
 */
export async function readFacts(deps: Deps, login: string): Promise<Facts> {
  const user = await deps.mt5.getUser(login);
  if (user === undefined) {
    throw refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
  }
  const positions = await deps.mt5.readPositions(login);
  await readLogin(deps, login);
  const account = await findAccount(deps.pool, login);
  if (account === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  const left = await listOpenPositions(deps.pool, login);
  const { balanceMinor } = user;
  const shown = new Map(positions.map(({ ticket, volume }) => [ticket, volume]));
  const isSame = left.length === shown.size && left.every(({ positionId, volume }) => shown.get(positionId) === volume);
  const isComplete = isSame && account.logBalance.minor === balanceMinor && account.undecidedFrom === undefined;
  return { balanceMinor, positions, account, isComplete };
}
