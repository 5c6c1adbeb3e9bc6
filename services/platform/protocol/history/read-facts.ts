import type { Deps } from "../../deps.ts";
import { Mt5Error, type Mt5Problem } from "../../mt5/errors.ts";
import type { Position } from "../../mt5/positions.ts";
import { refuse } from "../../refusals.ts";
import { listLogEnds, type LogEnd } from "../../store/positions.ts";
import { readLogins } from "./read-history.ts";

/** An account as the platform shows it and as the log has it. */
export type Facts = {
  readonly balanceMinor: bigint;
  readonly positions: readonly Position[];
  readonly log: LogEnd;
  /** The platform and the log agree: no change is still unread. */
  readonly isComplete: boolean;
};

/** What the answer about one account may cause: the others are then read without it. */
const OF_ONE_ACCOUNT: ReadonlySet<Mt5Problem> = new Set(["bad_answer", "retcode", "incomplete"]);

/** Facts of each login, or why they cannot be read. */
export async function readFactsOfEach(
  deps: Deps,
  logins: readonly string[],
): Promise<ReadonlyMap<string, Facts | Error>> {
  try {
    return await readTogether(deps, logins);
  } catch (error) {
    if (!(error instanceof Mt5Error) || !OF_ONE_ACCOUNT.has(error.problem) || logins.length === 1) throw error;
    const each = await Promise.all(logins.map((login) => readFacts(deps, login).catch(asError)));
    return new Map(logins.map((login, index) => [login, each[index] as Facts | Error]));
  }
}

export async function readFacts(deps: Deps, login: string): Promise<Facts> {
  const facts = (await readTogether(deps, [login])).get(login) ?? notManaged(login);
  if (facts instanceof Error) throw facts;
  return facts;
}

/**
 * Reads balances and positions before the history: an event between the reads is only in the log and shows as a difference,
 * and a later event is in neither of them.
 */
async function readTogether(deps: Deps, logins: readonly string[]): Promise<ReadonlyMap<string, Facts | Error>> {
  const [users, positions] = await Promise.all([
    deps.mt5.getUsers(logins),
    Promise.all(logins.map((login) => deps.mt5.readPositions(login).catch(asError))),
  ]);
  const shown = logins.filter((login) => users.has(login));
  await readLogins(deps, shown);
  const logs = await listLogEnds(deps.pool, shown);
  return new Map(
    logins.map((login, index): [string, Facts | Error] => {
      const [user, log, open = []] = [users.get(login), logs.get(login), positions[index]];
      if (user === undefined) return [login, notShown(login)];
      if (open instanceof Error) return [login, open];
      return [login, log === undefined ? notManaged(login) : compared(user.balanceMinor, open, log)];
    }),
  );
}

function compared(balanceMinor: bigint, positions: readonly Position[], log: LogEnd): Facts {
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

function asError(error: unknown): Error {
  if (error instanceof Error) return error;
  throw error;
}
