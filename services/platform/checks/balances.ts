import { type Check, type Finding, inSnapshot, type Suspect } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";

const EVERY_MS = 300_000;
/** Ten questions to the platform, and what differs once more each. */
const LOGINS_PER_LOOK = 1_000;

type Row = {
  readonly login: string;
  readonly master: string;
  readonly logMinor: bigint;
  readonly logNumber: bigint;
  readonly isUndecided: boolean;
  /** Money is on its way, and nobody knows yet whether it is there. */
  readonly isUnderWay: boolean;
};

type Difference = { readonly before: Row; readonly shownMinor: bigint | undefined };

/**
 * R5. What the platform shows is the opening and every deal since, of all kinds. Nobody is stopped for it: an account that
 * moves while it is read is read again, and a difference has to be the same in two looks in a row.
 */
export function balances({ pool, mt5 }: Pick<Deps, "pool" | "mt5">): Check {
  const differing = async (
    logins: readonly string[] | undefined,
    after: string,
  ): Promise<readonly [Row[], Difference[]]> => {
    const rows = await inSnapshot(pool, (db) => many<Row>(db, accounts(logins, after)));
    const users = await mt5.getUsers(rows.map(({ login }) => login));
    const found = rows.map((before) => ({ before, shownMinor: users.get(before.login)?.balanceMinor }));
    return [rows, found.filter(({ before, shownMinor }) => !before.isUnderWay && shownMinor !== before.logMinor)];
  };
  return {
    name: "R5",
    title: "the platform's balance of each account is the sum of its log",
    everyMs: EVERY_MS,
    sightings: 2,
    async look({ place, suspects }) {
      const [page, first] = await differing(undefined, place);
      const again = [...first.map(({ before }) => before.login), ...loginsOf(suspects)];
      const [, differences] = again.length === 0 ? [[], []] : await differing([...new Set(again)], "");
      return {
        findings: differences.map(findingOf),
        covers: () => true,
        nextPlace: page.length < LOGINS_PER_LOOK ? "" : (page.at(-1)?.login ?? ""),
      };
    },
  };
}

/** Without logins the next page of all. */
function accounts(logins: readonly string[] | undefined, after: string) {
  return sql`
    select login, case role when 'master' then login else '' end as master, log_minor as "logMinor",
           log_number as "logNumber", undecided_from is not null as "isUndecided",
           exists (
             select from operation where operation.login = account.login and state in ('SENDING', 'UNKNOWN')
           ) as "isUnderWay"
    from account
    where case when ${logins === undefined} then login > ${after} else login = any (${logins ?? []}::text[]) end
    order by login
    limit ${logins === undefined ? LOGINS_PER_LOOK : null}`;
}

function loginsOf(suspects: readonly Suspect[]): string[] {
  return suspects.map(({ login }) => login);
}

function findingOf({ before: { login, master, logMinor, logNumber, isUndecided }, shownMinor }: Difference): Finding {
  const difference = (shownMinor ?? 0n) - logMinor;
  const message =
    shownMinor === undefined
      ? `the platform does not show account ${login} any more`
      : `the platform shows ${shownMinor} cents on ${login}, its log adds up to ${logMinor}`;
  return {
    // Another difference is another break: only one that stays the same is more than something on its way.
    key: `login:${login}:${difference}`,
    login,
    masterLogin: master,
    atRiskMinor: difference < 0n ? -difference : difference,
    operationIds: [],
    dealIds: [],
    message,
    evidence: {
      shown_minor: shownMinor === undefined ? null : String(shownMinor),
      log_minor: String(logMinor),
      log_number: String(logNumber),
      difference_minor: String(difference),
      has_undecided_deal: isUndecided,
    },
  };
}
