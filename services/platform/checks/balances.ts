import { formatAmount, usd } from "#kernel/values/money.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { abs, type Check, described, type Finding, MAX_FINDINGS } from "#kernel/reconcile/check.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { type Accounts, isIn, walkAccounts } from "./account-pages.ts";

/** Accounts that are compared together, with ten requests to the platform. */
const PAGE_SIZE = 1_000;
/** How long one run compares, so that other checks run in time; the next one continues. In 20 s some 100,000 accounts are compared. */
const RUN_MS = 20_000;
/** Differing accounts whose history one run reads; further ones are reported without a read of their history. */
const READ_AGAIN_PER_RUN = 20;

type Row = {
  readonly login: string;
  readonly group: string;
  readonly registration: bigint | null;
  readonly master: string;
  readonly logMinor: bigint;
  readonly logNumber: bigint;
  readonly isUndecided: boolean;
  /** A leg of the account was sent and its outcome is not known yet. */
  readonly isInProgress: boolean;
};

export type BalanceDeps = Deps & {
  /** Reads the platform's current history of a login into its log. The check itself only compares. */
  readonly readLogin: (login: string) => Promise<void>;
  /** The same for all of its history. */
  readonly readWholeLogin: (login: string) => Promise<void>;
  /** Notes what was shown of the accounts. Returns those without money that are not shown, which is no difference. */
  readonly noteAccounts: (read: {
    readonly accounts: readonly Pick<Row, "login" | "group" | "registration">[];
    readonly users: ReadonlyMap<string, { readonly group: string; readonly registration: bigint }>;
  }) => Promise<ReadonlySet<string>>;
};

type Difference = {
  readonly row: Row;
  readonly shownMinor: bigint | undefined;
  /** The platform shows the account in a form that is not documented. */
  readonly isUnreadable?: boolean;
};

/**
 * platform_balance. The platform's balance is the opening plus all deals since. The check does not stop other work, so an
 * account that differs is read again with its history, and the same difference has to be found in two runs in a row.
 */
export function balances(deps: BalanceDeps): Check {
  return {
    ...described("platform_balance"),
    async run(request) {
      const differences = new Map<string, Difference>();
      const { nextCursor, endsPass } = await walkAccounts(request, {
        list: (accounts) => listAccounts(deps, accounts),
        size: PAGE_SIZE,
        runMs: RUN_MS,
        async compare(rows) {
          for (const difference of await differing(deps, rows)) differences.set(difference.row.login, difference);
          return differences.size < MAX_FINDINGS;
        },
      });
      const suspicious = [...differences.values()];
      const read = suspicious.slice(0, READ_AGAIN_PER_RUN);
      const findings: Finding[] = [];
      for (const difference of read) findings.push(...(await readAgainOrReport(deps, difference)));
      findings.push(...suspicious.slice(READ_AGAIN_PER_RUN).map(findingOf));
      return { findings, covers: () => true, nextCursor, endsPass };
    },
  };
}

/** An account without money that is not shown is no difference: it is noted, and archived when that is confirmed. */
async function differing(deps: BalanceDeps, rows: readonly Row[]): Promise<Difference[]> {
  const { users, unreadable } = await deps.mt5.readUsers(rows.map(({ login }) => login));
  const readable = rows.filter(({ login }) => !unreadable.has(login));
  const away = await deps.noteAccounts({ accounts: readable, users });
  return rows
    .filter(({ login }) => !away.has(login))
    .map((row) => ({
      row,
      shownMinor: users.get(row.login)?.balanceMinor,
      isUnreadable: unreadable.has(row.login),
    }))
    .filter(({ row, shownMinor }) => !row.isInProgress && shownMinor !== row.logMinor);
}

/** A difference whose history cannot be read is reported as it was found: the check of the other accounts goes on. */
async function readAgainOrReport(deps: BalanceDeps, difference: Difference): Promise<Finding[]> {
  try {
    return await readAgain(deps, difference);
  } catch (error) {
    const { login } = difference.row;
    deps.log.info("history of an account whose balance differs not read, retry scheduled", { login, error });
    return [findingOf(difference)];
  }
}

/**
 * Reads the balance and then the history: a deal that the reader had not read yet explains the difference, or else one that was dated
 * back or first shown late.
 */
async function readAgain(deps: BalanceDeps, first: Difference): Promise<Finding[]> {
  const { login } = first.row;
  if (first.shownMinor === undefined) return [findingOf(first)];
  let differing: Difference | undefined;
  for (const read of [deps.readLogin, deps.readWholeLogin]) {
    const shownMinor = (await deps.mt5.getUsers([login])).get(login)?.balanceMinor;
    await read(login);
    const [now] = await listAccounts(deps, { logins: [login] });
    if (now === undefined || now.logMinor === shownMinor) return [];
    differing = { row: now, shownMinor };
  }
  return differing === undefined ? [] : [findingOf(differing)];
}

/** The next page of all accounts, or the accounts of `logins`. */
async function listAccounts({ pool }: Deps, accounts: Accounts): Promise<Row[]> {
  return inSnapshot(pool, (db) =>
    many<Row>(
      db,
      sql`select login, platform_group as "group", registration, case role when 'master' then login else '' end as master, log_minor as "logMinor",
                 log_number as "logNumber", undecided_from is not null as "isUndecided",
                 exists (
                   select from leg where leg.login = account.login and state in ('SENDING', 'UNKNOWN')
                 ) as "isInProgress"
          from account
          where (archived_at is null or log_minor <> 0) and ${isIn(accounts)}
          order by login
          limit ${PAGE_SIZE}`,
    ),
  );
}

function findingOf({ row, shownMinor, isUnreadable }: Difference): Finding {
  const { login, master, logMinor, logNumber, isUndecided } = row;
  const difference = (shownMinor ?? 0n) - logMinor;
  const notShown =
    isUnreadable === true
      ? `The trading platform shows account ${login} in a form that cannot be read.`
      : `The trading platform no longer shows account ${login}.`;
  const message =
    shownMinor === undefined
      ? notShown
      : `The trading platform shows ${formatAmount(usd(shownMinor))} on ${login}, but its log sums to ${formatAmount(usd(logMinor))}.`;
  return {
    // A different amount is a new break: only a difference that stays the same is not caused by money in transit.
    key: `login:${login}:${difference}`,
    login,
    masterLogin: master,
    atRiskMinor: abs(difference),
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
