import { callContext } from "#kernel/contract/context.ts";
import { formatAmount, usd } from "#kernel/values/money.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { abs, type Check, described, type Finding, type PendingBreak } from "#kernel/reconcile/check.ts";
import { many, sql, type Statement } from "#kernel/postgres/query.ts";
import type { Deps } from "../deps.ts";
import { INVESTORS, MASTERS } from "./changed-logins.ts";
import { examineLogins, MAX_RUN_MS } from "./examine-logins.ts";
import { listDifferences, type PoolDifference } from "./pool-rules.ts";

/** Platform sums the log of up to a thousand accounts. */
const CALL_TIMEOUT_MS = 5_000;

type PoolDeps = Pick<Deps, "pool" | "platform">;

/** The balance of an account in the books, at the log position up to which it is filed. */
type Booked = {
  readonly login: string;
  readonly number: bigint;
  readonly masterLogin: string;
  readonly bookedMinor: bigint;
};

/**
 * pool_ledger: every cent of an account is in exactly one bucket. The books are compared with the log at the log
 * position up to which they are filed. Log entries never change, so one run is conclusive even while movements are in
 * progress. A run examines the Masters and Investors that have changed since the last one, and a slice of all.
 */
export function pools(deps: PoolDeps, maxRunMs = MAX_RUN_MS): Check {
  return {
    ...described("pool_ledger"),
    run: ({ cursor, pendingBreaks }) =>
      examineLogins(
        {
          pool: deps.pool,
          tables: { master: MASTERS, investor: INVESTORS },
          maxRunMs,
          broken: { master: mastersOf(pendingBreaks), investor: loginsOf(pendingBreaks, "investor") },
          examine: (kind, logins) => examine(deps, kind, logins),
        },
        cursor,
      ),
  };
}

type Kind = "master" | "investor";

/** Sum of all buckets that are on the account: of a Master those of its Investors, and the money that belongs to no Investor. */
const BOOKED: Readonly<Record<Kind, (logins: readonly string[]) => Statement>> = {
  master: (logins) => sql`
    select login, filed_number as number, login as "masterLogin",
           (own_waiting_minor + own_pooled_minor + imported_mirrors_minor + imported_exits_minor + unallocated_minor
            + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
    from master_pool
         left join lateral (
           select sum(waiting_minor + pooled_minor + reserved_minor + outbound_minor) as minor
           from holding
           where holding.master_login = login
         ) as holdings on true
    where login = any (${logins}::text[])
    order by login`,
  investor: (logins) => sql`
    select login, filed_number as number, coalesce(pooled.master_login, '') as "masterLogin",
           (outside_minor + quarantined_minor - unposted_minor + coalesce(holdings.minor, 0))::bigint as "bookedMinor"
    from investor_account
         left join lateral (
           select sum(inbound_minor + waiting_minor + pooled_minor + reserved_minor) as minor
           from holding
           where holding.investor_login = login
         ) as holdings on true
         left join holding as pooled on pooled.subscription_id = pooled_subscription_id
    where login = any (${logins}::text[])
    order by login`,
};

/** All that concerns these accounts, and the pools of Masters, on one snapshot of the books. */
async function examine(deps: PoolDeps, kind: Kind, logins: readonly string[]): Promise<Finding[]> {
  const { booked, differences } = await inSnapshot(deps.pool, async (db) => ({
    booked: await many<Booked>(db, BOOKED[kind](logins)),
    differences: kind === "master" ? await listDifferences(db, logins) : [],
  }));
  return [...(await findUnreconciled(deps, kind, booked)), ...differences.map(poolFinding)];
}

/** All keys except those of Investors begin with the kind and the login of the Master. */
function mastersOf(pendingBreaks: readonly PendingBreak[]): string[] {
  return [...new Set([...loginsOf(pendingBreaks, "master"), ...loginsOf(pendingBreaks, "pool")])];
}

function loginsOf(pendingBreaks: readonly PendingBreak[], kind: string): string[] {
  return pendingBreaks.map(({ key }) => key.split(":")).flatMap(([name, login = ""]) => (name === kind ? [login] : []));
}

async function findUnreconciled({ platform }: PoolDeps, kind: Kind, booked: readonly Booked[]): Promise<Finding[]> {
  const positions = booked.map(({ login, number }) => ({ login, number }));
  const context = callContext({ caller: "subscription", withinMs: CALL_TIMEOUT_MS });
  const { balances } = await platform.readLogBalances({ positions }, context);
  const logged = new Map(balances.map(({ login, balance }) => [login, balance?.minorUnits ?? 0n]));
  return booked.flatMap((row) => {
    const loggedMinor = logged.get(row.login) ?? 0n;
    return loggedMinor === row.bookedMinor ? [] : [balanceFinding(kind, row, loggedMinor)];
  });
}

function balanceFinding(kind: Kind, { login, number, masterLogin, bookedMinor }: Booked, loggedMinor: bigint): Finding {
  const [booked, logged] = [formatAmount(usd(bookedMinor)), formatAmount(usd(loggedMinor))];
  return {
    key: `${kind}:${login}`,
    login,
    masterLogin,
    atRiskMinor: abs(bookedMinor - loggedMinor),
    message: `The books show ${booked} on ${login}, but its log shows ${logged} at entry ${number}.`,
    evidence: { booked_minor: String(bookedMinor), logged_minor: String(loggedMinor), log_number: String(number) },
  };
}

const MESSAGES: Readonly<Record<PoolDifference["rule"], string>> = {
  holding: "A bucket differs from the records that explain it",
  marks: "The attributed result of a position differs from its mark",
  carries: "Rounding remainders do not sum to zero",
  sums: "The sums of the pool differ from its holdings",
  numbers: "Allocation numbers have a gap",
  parts: "A result was not allocated completely",
  own_flows: "Flows of own capital that wait for a strike differ from their records",
  unallocated: "Unallocated results differ from their recorded sum",
};

function poolFinding({ rule, subject, expected, found, ...account }: PoolDifference): Finding {
  return {
    ...account,
    key: `pool:${account.masterLogin}:${rule}:${subject}`,
    message: subject === "" ? `${MESSAGES[rule]}.` : `${MESSAGES[rule]}: ${subject}.`,
    evidence: { expected, found },
  };
}
