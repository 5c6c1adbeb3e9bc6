import { setTimeout as sleep } from "node:timers/promises";
import { concurrently } from "#kernel/concurrently.ts";
import type { Deps } from "../../deps.ts";
import { Mt5Error, type Mt5Problem } from "../../mt5/errors.ts";
import type { Position } from "../../mt5/positions.ts";
import { refuse } from "../../refusals.ts";
import { listLogEnds, type LogEnd } from "../../store/positions.ts";
import { readDecided, readLogin } from "./read-history.ts";

/** An account as the platform shows it and as the log has it. */
export type Facts = {
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
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
/** Positions are asked for by login: so many at a time, so that money commands find a session. */
const MAX_POSITION_READS = 8;
/** One that takes longer is read alone, so that it does not delay the others. */
const POSITIONS_WITHIN_MS = 1_000;

/**
 * Facts of logins that are read together, or why they cannot be read. An account is left out when it has to be read alone:
 * its positions take long, it has an undecided deal, or reading one of the accounts failed.
 */
export async function readFactsTogether(
  deps: Deps,
  logins: readonly string[],
): Promise<ReadonlyMap<string, Facts | Error>> {
  try {
    const [users, positions] = await Promise.all([deps.mt5.getUsers(logins), readPositions(deps, logins)]);
    const undecided = await readDecided(
      deps,
      logins.filter((login) => users.has(login)),
    );
    const shown = logins.filter((login) => !undecided.has(login));
    const logs = await listLogEnds(deps.pool, shown);
    return new Map(
      shown.flatMap((login): [string, Facts | Error][] => {
        const [user, open] = [users.get(login), positions.get(login)];
        if (user === undefined) return [[login, notShown(login)]];
        return open === undefined ? [] : [[login, compared(user.balanceMinor, open, logs.get(login), login)]];
      }),
    );
  } catch (error) {
    if (error instanceof Mt5Error && OF_ALL.has(error.problem)) throw error;
    return new Map();
  }
}

/** Those that were read within the time, by login. */
async function readPositions(
  { mt5 }: Deps,
  logins: readonly string[],
): Promise<ReadonlyMap<string, readonly Position[]>> {
  const positions = new Map<string, readonly Position[]>();
  let isOver = false;
  const reading = concurrently(logins, MAX_POSITION_READS, async (login) => {
    const read = isOver ? undefined : await mt5.readPositions(login).catch(() => undefined);
    if (read !== undefined) positions.set(login, read);
  });
  await Promise.race([reading, sleep(POSITIONS_WITHIN_MS, undefined, { ref: false })]);
  isOver = true;
  // Later ones do not count: their accounts are read again.
  return new Map(positions);
}

/**
 * Reads balance and positions before the history: an event between the reads is only in the log and shows as a difference,
 * and a later event is in neither of them.
 */
export async function readFacts(deps: Deps, login: string): Promise<Facts> {
  const [users, positions] = await Promise.all([deps.mt5.getUsers([login]), deps.mt5.readPositions(login)]);
  const user = users.get(login);
  if (user === undefined) throw notShown(login);
  await readLogin(deps, login);
  const logs = await listLogEnds(deps.pool, [login]);
  const facts = compared(user.balanceMinor, positions, logs.get(login), login);
  if (facts instanceof Error) throw facts;
  return facts;
}

function compared(
  balanceMinor: bigint,
  positions: readonly Position[],
  log: LogEnd | undefined,
  login: string,
): Facts | Error {
  if (log === undefined) return notManaged(login);
  const shown = new Map(positions.map(({ ticket, volume }) => [ticket, volume]));
  const isSame =
    log.positions.length === shown.size &&
    log.positions.every(({ positionId, volume }) => shown.get(positionId) === volume);
  const isComplete = isSame && log.balance.minor === balanceMinor && log.undecidedFrom === null;
  return { balanceMinor, positions, log, isComplete };
}

function notShown(login: string): Error {
  return refuse("platform_account_not_found", `The trading platform does not show account ${login}.`);
}

function notManaged(login: string): Error {
  return refuse("login_not_managed", `Account ${login} is not managed by this service.`);
}
