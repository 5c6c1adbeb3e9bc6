import { setTimeout as sleep } from "node:timers/promises";
import type { GatheredRead } from "#kernel/batches/gather-reads.ts";
import type { Deps } from "../../deps.ts";
import { Mt5Error, type Mt5Problem } from "../../mt5/errors.ts";
import type { Position } from "../../mt5/positions.ts";
import { isCreatedAgain, mayTrade, type User } from "../../mt5/users.ts";
import { notManaged, refuse } from "../../refusals.ts";
import { listLogEnds, type LogEnd } from "../../store/positions.ts";
import { readDecided, readLogin } from "./read-history.ts";

/** An account as the platform shows it and as the log has it. */
export type Facts = {
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
  readonly mayTrade: boolean;
  readonly log: LogEnd;
  /** The platform and the log agree: no change is still unread. */
  readonly isComplete: boolean;
};

/** What concerns all accounts: reading each of them alone would fail as well. */
const OF_ALL: ReadonlySet<Mt5Problem> = new Set([
  "unreachable",
  "login_refused",
  "server_authentication_failed",
  "forbidden",
  "busy",
  "closed",
]);
const POSITIONS_WITHIN_MS = 1_000;

/**
 * Facts of logins that are read together, at the same time, or why they cannot be read. What happens meanwhile is in some of the answers only, and
 * shows as a difference, or in none of them: then the facts are those of the log's end. An account is left out when it has to be read alone: it has an
 * undecided deal, its list of positions may be cut, or reading one of the accounts failed.
 */
export async function readFactsTogether(
  deps: Deps,
  logins: readonly string[],
): Promise<ReadonlyMap<string, Facts | Error>> {
  try {
    const [users, positions, undecided] = await Promise.all([
      deps.mt5.getUsers(logins),
      findPositionsInTime(deps, logins),
      readDecided(deps, logins),
    ]);
    if (positions === undefined) return new Map();
    const shown = logins.filter((login) => !undecided.has(login));
    const logs = await listLogEnds(deps.pool, shown);
    return new Map(
      shown.flatMap((login): [string, Facts | Error][] => {
        const [user, open, log] = [users.get(login), positions.get(login) ?? [], logs.get(login)];
        if (log === undefined) return [[login, notManaged(login)]];
        if (log.isArchived) return [[login, ofArchived(log)]];
        if (user === undefined) return [[login, notShown(login)]];
        // What a list that equals the positions of the log lacks was opened after the history was read.
        return isSame(open, log) ? [[login, compared(user, open, log)]] : [];
      }),
    );
  } catch (error) {
    if (error instanceof Mt5Error && OF_ALL.has(error.problem)) throw error;
    return new Map();
  }
}

/** A list that takes longer is read for each login alone, so that one account does not delay the others. */
async function findPositionsInTime({ mt5 }: Deps, logins: readonly string[]) {
  return await Promise.race([mt5.findPositions(logins), sleep(POSITIONS_WITHIN_MS, undefined, { ref: false })]);
}

/** Facts of a login that may share its requests with others, or is read alone. `byMs` is that of `GatheredRead`. */
export async function readSharedFacts(
  deps: Deps,
  together: GatheredRead<string, Facts>,
  login: string,
  byMs?: number,
): Promise<Facts> {
  return (await together(login, byMs)) ?? (await readFacts(deps, login));
}

/**
 * Reads balance and positions before the history: an event between the reads is only in the log and shows as a difference,
 * and a later event is in neither of them.
 */
export async function readFacts(deps: Deps, login: string): Promise<Facts> {
  const [users, positions] = await Promise.all([deps.mt5.getUsers([login]), deps.mt5.readPositions(login)]);
  const user = users.get(login);
  if (user !== undefined) await readLogin(deps, login);
  const log = (await listLogEnds(deps.pool, [login])).get(login);
  if (log?.isArchived === true) return ofArchived(log);
  if (user === undefined) throw notShown(login);
  if (log === undefined) throw notManaged(login);
  return compared(user, positions, log);
}

/** Nothing moves an archived account: its facts are those of its log, which is 0.00, whatever is shown under its login. */
function ofArchived(log: LogEnd): Facts {
  return { balanceMinor: log.balance.minor, positions: [], mayTrade: false, log, isComplete: true };
}

function compared(user: User, positions: readonly Position[], log: LogEnd): Facts {
  const { balanceMinor } = user;
  const isComplete =
    isSame(positions, log) &&
    log.balance.minor === balanceMinor &&
    log.undecidedFrom === null &&
    !isCreatedAgain(user, log.registration);
  return { balanceMinor, positions, mayTrade: mayTrade(user), log, isComplete };
}

function isSame(positions: readonly Position[], log: LogEnd): boolean {
  const shown = new Map(positions.map(({ ticket, volume }) => [ticket, volume]));
  return (
    log.positions.length === shown.size &&
    log.positions.every(({ positionId, volume }) => shown.get(positionId) === volume)
  );
}

function notShown(login: string): Error {
  return refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
}
