import { formatAmount, usd } from "#kernel/money.ts";
import { callContext } from "#kernel/contract/context.ts";
import {
  abs,
  type Check,
  CHECK_EVERY_MS,
  type Finding,
  inSnapshot,
  type PendingBreak,
} from "#kernel/reconcile/check.ts";
import { MAX_PAGE_SIZE } from "#kernel/page.ts";
import type { Deps } from "../deps.ts";
import {
  listBrokenAllocations,
  listBrokenCarries,
  listBrokenMarks,
  listMasters,
  MASTERS_PER_RUN,
  type PoolDifference,
} from "./find-pools.ts";
import { INVESTORS_PER_RUN, listBrokenHoldings, listInvestors, type HoldingDifference } from "./find-holdings.ts";

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
 * progress.
 */
export function pools({ pool, platform }: Pick<Deps, "pool" | "platform">): Check {
  return {
    name: "pool_ledger",
    title: "Each account is the sum of its buckets; marks, carries, allocations and pending movements are consistent.",
    everyMs: CHECK_EVERY_MS,
    confirmations: 1,
    async run({ cursor, pendingBreaks }) {
      const [masterAfter = "", investorAfter = ""] = cursor.split("/");
      const read = await inSnapshot(pool, async (db) => {
        const masters = await listMasters(db, masterAfter, mastersOf(pendingBreaks));
        const logins = masters.map(({ login }) => login);
        return {
          masters: masters.map((master) => ({ ...master, masterLogin: master.login })),
          investors: await listInvestors(db, investorAfter, loginsOf(pendingBreaks, "investor")),
          holdings: await listBrokenHoldings(db, logins),
          differences: [
            ...(await listBrokenMarks(db, logins)),
            ...(await listBrokenCarries(db, logins)),
            ...(await listBrokenAllocations(db, logins)),
          ],
        };
      });
      const nextCursor = cursorAfter(
        { master: masterAfter, investor: investorAfter },
        {
          master: nextLogin(masterAfter, read.masters, MASTERS_PER_RUN),
          investor: nextLogin(investorAfter, read.investors, INVESTORS_PER_RUN),
        },
      );
      return {
        findings: [
          ...(await findUnreconciled(platform, "master", read.masters)),
          ...(await findUnreconciled(platform, "investor", read.investors)),
          ...read.holdings.map(holdingFinding),
          ...read.differences.map(poolFinding),
        ],
        covers: () => true,
        nextCursor,
        endsPass: nextCursor === "",
      };
    },
  };
}

type Cursors = { readonly master: string; readonly investor: string };

/** A full pass ends when both lists are read; the list that ends first stays at its last page until then. */
function cursorAfter(from: Cursors, next: Cursors): string {
  if (next.master === "" && next.investor === "") return "";
  return `${next.master === "" ? from.master : next.master}/${next.investor === "" ? from.investor : next.investor}`;
}

/** Where a list continues; empty after its last login. */
function nextLogin(after: string, read: readonly { readonly login: string }[], perRun: number): string {
  const page = read.filter(({ login }) => login > after);
  return page.length < perRun ? "" : (page[perRun - 1]?.login ?? "");
}

/** All keys except those of Investors begin with the kind and the login of the Master. */
function mastersOf(pendingBreaks: readonly PendingBreak[]): string[] {
  return [...loginsOf(pendingBreaks, "master"), ...loginsOf(pendingBreaks, "pool")];
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
  for (let from = 0; from < booked.length; from += MAX_PAGE_SIZE) {
    const page = booked.slice(from, from + MAX_PAGE_SIZE);
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
  numbers: "Allocation numbers have a gap",
  parts: "A result was not allocated completely",
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
