import type { Deps } from "../../deps.ts";
import type { Position } from "../../mt5/positions.ts";
import { refuse } from "../../refusals.ts";
import { findLogEnd, type LogEnd } from "../../store/positions.ts";
import { readLogin } from "./read-history.ts";

/** An account as the platform shows it and as the log has it. */
export type Facts = {
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
  readonly log: LogEnd;
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
  const log = await findLogEnd(deps.pool, login);
  if (log === undefined) throw refuse("login_not_managed", `Account ${login} is not managed by this service.`);
  const { balanceMinor } = user;
  const shown = new Map(positions.map(({ ticket, volume }) => [ticket, volume]));
  const isSame =
    log.positions.length === shown.size &&
    log.positions.every(({ positionId, volume }) => shown.get(positionId) === volume);
  const isComplete = isSame && log.balance.minor === balanceMinor && log.undecidedFrom === null;
  return { balanceMinor, positions, log, isComplete };
}
