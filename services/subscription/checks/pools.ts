import { formatAmount, usd } from "#kernel/money.ts";
import { callContext } from "#kernel/contract/context.ts";
import { type Check, type Finding, inSnapshot, type PendingBreak } from "#kernel/reconcile/check.ts";
import type { Deps } from "../deps.ts";
import {
  listBrokenAllocations,
  listBrokenCarries,
  listBrokenMarks,
  listMasters,
  nextMaster,
  type PoolDifference,
} from "./find-pools.ts";
import { listBrokenHoldings, listInvestors, nextInvestor, type HoldingDifference } from "./find-holdings.ts";

const EVERY_MS = 60_000;
const QUESTION_MS = 5_000;
/** The most that platform answers at once. */
const LOGINS_PER_QUESTION = 1_000;

/** What the books say of an account at a place of its log. */
type Booked = {
  readonly login: string;
  readonly number: bigint;
  readonly masterLogin: string;
  readonly bookedMinor: bigint;
};

/**
 * pool_ledger. Every cent of an account is in exactly one place. The books are compared with the log at the very entry up to which
 * they are filed, and entries never change: so one look is enough, however much is under way.
 */
export function pools({ pool, platform }: Pick<Deps, "pool" | "platform">): Check {
  return {
    name: "pool_ledger",
    title: "Each account is the sum of its buckets; marks, carries, allocations and pending movements are consistent.",
    everyMs: EVERY_MS,
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
      return {
        findings: [
          ...(await untied(platform, "master", read.masters)),
          ...(await untied(platform, "investor", read.investors)),
          ...read.holdings.map(holdingFinding),
          ...read.differences.map(poolFinding),
        ],
        covers: () => true,
        nextCursor: placeOf(
          { master: masterAfter, investor: investorAfter },
          { master: nextMaster(masterAfter, read.masters), investor: nextInvestor(investorAfter, read.investors) },
        ),
      };
    },
  };
}

type Cursors = { readonly master: string; readonly investor: string };

/** Whoever is through early waits for the other; only then is the whole walked. */
function placeOf(from: Cursors, next: Cursors): string {
  if (next.master === "" && next.investor === "") return "";
  return `${next.master === "" ? from.master : next.master}/${next.investor === "" ? from.investor : next.investor}`;
}

/** Every key but that of an Investor names its Master first. */
function mastersOf(pendingBreaks: readonly PendingBreak[]): string[] {
  return [...loginsOf(pendingBreaks, "master"), ...loginsOf(pendingBreaks, "pool")];
}

function loginsOf(pendingBreaks: readonly PendingBreak[], kind: string): string[] {
  return pendingBreaks.map(({ key }) => key.split(":")).flatMap(([name, login = ""]) => (name === kind ? [login] : []));
}

async function untied(platform: Deps["platform"], kind: string, booked: readonly Booked[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0; from < booked.length; from += LOGINS_PER_QUESTION) {
    const page = booked.slice(from, from + LOGINS_PER_QUESTION);
    const positions = page.map(({ login, number }) => ({ login, number }));
    const { balances } = await platform.readLogBalances(
      { positions },
      callContext({ caller: "subscription", withinMs: QUESTION_MS }),
    );
    const logged = new Map(balances.map(({ login, balance }) => [login, balance?.minorUnits ?? 0n]));
    for (const row of page) {
      const loggedMinor = logged.get(row.login) ?? 0n;
      if (loggedMinor !== row.bookedMinor) findings.push(untiedFinding(kind, row, loggedMinor));
    }
  }
  return findings;
}

function untiedFinding(
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
    operationIds: [],
    dealIds: [],
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
    operationIds: [],
    dealIds: [],
    message: `Subscription ${subscriptionId}: ${bucket} is ${booked}, but its records sum to ${found}.`,
    evidence: { bucket, booked_minor: String(bookedMinor), found_minor: String(foundMinor) },
  };
}

const MESSAGES: Readonly<Record<PoolDifference["what"], string>> = {
  marks: "The attributed result of a position differs from its mark",
  carries: "Rounding remainders do not sum to zero",
  numbers: "Allocation numbers have a gap",
  parts: "A result was not allocated completely",
  unallocated: "Unallocated results differ from their recorded sum",
};

function poolFinding({ masterLogin, what, about, atRiskMinor, expected, found }: PoolDifference): Finding {
  return {
    key: `pool:${masterLogin}:${what}:${about}`,
    login: masterLogin,
    masterLogin,
    atRiskMinor,
    operationIds: [],
    dealIds: [],
    message: about === "" ? `${MESSAGES[what]}.` : `${MESSAGES[what]}: ${about}.`,
    evidence: { expected, found },
  };
}

function abs(minor: bigint): bigint {
  return minor < 0n ? -minor : minor;
}
