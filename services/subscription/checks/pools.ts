import { inBatches } from "#kernel/in-batches.ts";
import { callContext } from "#kernel/contract/context.ts";
import { formatAmount, usd } from "#kernel/money.ts";
import { inSnapshot } from "#kernel/postgres/transaction.ts";
import { abs, type Check, described, type Finding, type PendingBreak } from "#kernel/reconcile/check.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { Deps } from "../deps.ts";
import { INVESTORS, MASTERS } from "./changed-logins.ts";
import { examineLogins, MAX_RUN_MS } from "./examine-logins.ts";
import { type HoldingDifference, listBrokenHoldings, listInvestors } from "./find-holdings.ts";
import {
  listBrokenAllocations,
  listBrokenCarries,
  listBrokenMarks,
  listBrokenOwnFlows,
  listBrokenSums,
  listMasters,
  type PoolDifference,
} from "./find-pools.ts";

/** Platform sums the log of up to a thousand accounts. */
const CALL_TIMEOUT_MS = 5_000;

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
export function pools(deps: Pick<Deps, "pool" | "platform">, maxRunMs = MAX_RUN_MS): Check {
  return {
    ...described("pool_ledger"),
    run: ({ cursor, pendingBreaks }) =>
      examineLogins(
        {
          pool: deps.pool,
          tables: { masters: MASTERS, investors: INVESTORS },
          maxRunMs,
          broken: { masters: mastersOf(pendingBreaks), investors: loginsOf(pendingBreaks, "investor") },
          examine: (name, logins) =>
            name === "masters" ? examineMasters(deps, logins) : examineInvestors(deps, logins),
        },
        cursor,
      ),
  };
}

/** All that concerns these Masters and their pools, on one snapshot of the books. */
async function examineMasters(
  { pool, platform }: Pick<Deps, "pool" | "platform">,
  logins: readonly string[],
): Promise<Finding[]> {
  const read = await inSnapshot(pool, async (db) => ({
    masters: await listMasters(db, logins),
    holdings: await listBrokenHoldings(db, logins),
    differences: [
      ...(await listBrokenMarks(db, logins)),
      ...(await listBrokenCarries(db, logins)),
      ...(await listBrokenSums(db, logins)),
      ...(await listBrokenAllocations(db, logins)),
      ...(await listBrokenOwnFlows(db, logins)),
    ],
  }));
  const booked = read.masters.map((master) => ({ ...master, masterLogin: master.login }));
  return [
    ...(await findUnreconciled(platform, "master", booked)),
    ...read.holdings.map(holdingFinding),
    ...read.differences.map(poolFinding),
  ];
}

async function examineInvestors(
  { pool, platform }: Pick<Deps, "pool" | "platform">,
  logins: readonly string[],
): Promise<Finding[]> {
  const booked = await inSnapshot(pool, (db) => listInvestors(db, logins));
  return await findUnreconciled(platform, "investor", booked);
}

/** All keys except those of Investors begin with the kind and the login of the Master. */
function mastersOf(pendingBreaks: readonly PendingBreak[]): string[] {
  return [...new Set([...loginsOf(pendingBreaks, "master"), ...loginsOf(pendingBreaks, "pool")])];
}

function loginsOf(pendingBreaks: readonly PendingBreak[], kind: string): string[] {
  return pendingBreaks.map(({ key }) => key.split(":")).flatMap(([name, login = ""]) => (name === kind ? [login] : []));
}

async function findUnreconciled(
  platform: Deps["platform"],
  kind: string,
  booked: readonly Booked[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const page of inBatches(booked, MAX_PAGE_SIZE)) {
    const positions = page.map(({ login, number }) => ({ login, number }));
    const { balances } = await platform.readLogBalances(
      { positions },
      callContext({ caller: "subscription", withinMs: CALL_TIMEOUT_MS }),
    );
    const logged = new Map(balances.map(({ login, balance }) => [login, balance?.minorUnits ?? 0n]));
    for (const row of page) {
      const loggedMinor = logged.get(row.login) ?? 0n;
      if (loggedMinor !== row.bookedMinor) findings.push(balanceFinding(kind, row, loggedMinor));
    }
  }
  return findings;
}

function balanceFinding(
  kind: string,
  { login, number, masterLogin, bookedMinor }: Booked,
  loggedMinor: bigint,
): Finding {
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

function holdingFinding(difference: HoldingDifference): Finding {
  const { subscriptionId, masterLogin, investorLogin, bucket, bookedMinor, foundMinor } = difference;
  const [booked, found] = [formatAmount(usd(bookedMinor)), formatAmount(usd(foundMinor))];
  return {
    key: `pool:${masterLogin}:holding:${subscriptionId}:${bucket}`,
    login: investorLogin,
    masterLogin,
    atRiskMinor: abs(bookedMinor - foundMinor),
    message: `Subscription ${subscriptionId}: ${bucket} is ${booked}, but its records sum to ${found}.`,
    evidence: { bucket, booked_minor: String(bookedMinor), found_minor: String(foundMinor) },
  };
}

const MESSAGES: Readonly<Record<PoolDifference["rule"], string>> = {
  marks: "The attributed result of a position differs from its mark",
  carries: "Rounding remainders do not sum to zero",
  sums: "The sums of the pool differ from its holdings",
  numbers: "Allocation numbers have a gap",
  parts: "A result was not allocated completely",
  own_flows: "Flows of own capital that wait for a strike differ from their records",
  unallocated: "Unallocated results differ from their recorded sum",
};

function poolFinding({ masterLogin, rule, subject, atRiskMinor, expected, found }: PoolDifference): Finding {
  return {
    key: `pool:${masterLogin}:${rule}:${subject}`,
    login: masterLogin,
    masterLogin,
    atRiskMinor,
    message: subject === "" ? `${MESSAGES[rule]}.` : `${MESSAGES[rule]}: ${subject}.`,
    evidence: { expected, found },
  };
}
