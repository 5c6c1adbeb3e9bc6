import type { CrystalliseRequest } from "#proto/pamm/fee/v1/fee.ts";
import type { AllocationEntry, AllocationRow } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { E8_PER_CENT } from "../domain/units.ts";

/** Above every number of an entry. */
const NEWEST = 2n ** 63n - 1n;

type Allocations = { readonly entries: AllocationEntry[]; readonly rows: AllocationRow[] };

/** The calls of the fee service to the subscription service, in memory: allocations, floors and returned reserves. */
export type SubscriptionFake = {
  readonly allocations: Map<string, Allocations>;
  readonly floors: Map<string, bigint>;
  /** The log position of the floor of a login; by default all of its log is in it. */
  readonly filedNumbers: Map<string, bigint>;
  readonly returned: string[];
  /** The shares of Investors in the floating result now, in cents, by login; of an Investor in no pool there is none. */
  readonly shares: Map<string, { readonly masterLogin: string; readonly floating: bigint; readonly markedAt?: Date }>;
  /** What has joined and left the pools of Investors, in cents, by login. */
  readonly flows: Map<string, { readonly inflow: bigint; readonly outflow: bigint; readonly complete?: boolean }>;
  /** What decided leaves ask for, by key. */
  readonly leaves: Map<string, CrystalliseRequest>;
  /** Maximum rows of one answer. */
  maxRows: number;
  readonly client: Deps["subscriptions"];
};

/** Cents by Investor login. */
export type Parts = Readonly<Record<string, bigint>>;

export function subscriptionFake(): SubscriptionFake {
  const allocations = new Map<string, Allocations>();
  const floors = new Map<string, bigint>();
  const filedNumbers = new Map<string, bigint>();
  const returned: string[] = [];
  const flows: SubscriptionFake["flows"] = new Map();
  const shares: SubscriptionFake["shares"] = new Map();
  const leaves = new Map<string, CrystalliseRequest>();
  const fake: SubscriptionFake = {
    allocations,
    floors,
    filedNumbers,
    returned,
    shares,
    flows,
    leaves,
    maxRows: 5_000,
    client: {
      async readAllocations({ masterLogin, afterNumber, limit }) {
        const { entries } = allocationsOf(fake, masterLogin);
        const page = entries.filter(({ number }) => number > afterNumber).slice(0, limit);
        return { entries: page, lastNumber: entries.at(-1)?.number ?? 0n };
      },
      async readAllocationRows({ masterLogin, afterNumber, afterSubscriptionId, throughNumber, limit }) {
        const { rows } = allocationsOf(fake, masterLogin);
        const found = rows.filter(
          ({ number, subscriptionId }) =>
            number <= throughNumber &&
            (number > afterNumber || (number === afterNumber && subscriptionId > afterSubscriptionId)),
        );
        const max = Math.min(limit, fake.maxRows);
        return { rows: found.slice(0, max), hasMore: found.length > max };
      },
      async getFeeFloors({ investorLogins }) {
        const known = investorLogins.filter((login) => floors.has(login));
        return {
          floors: known.map((investorLogin) => ({
            investorLogin,
            floor: usd(floors.get(investorLogin) ?? 0n),
            filedNumber: filedNumbers.get(investorLogin) ?? NEWEST,
          })),
        };
      },
      async readFloatingShare({ investorLogin }) {
        const { masterLogin, floating = 0n, markedAt } = shares.get(investorLogin) ?? {};
        const throughNumber = masterLogin === undefined ? 0n : lastNumberOf(fake, masterLogin);
        return { masterLogin, throughNumber, floatingE8: floating * E8_PER_CENT, markedAt };
      },
      async sumFlows({ investorLogin }) {
        const { inflow = 0n, outflow = 0n, complete = true } = flows.get(investorLogin) ?? {};
        return { inflow: usd(inflow), outflow: usd(outflow), complete };
      },
      findLeave: async ({ key, investorLogin, feeSuffix }) => ({
        crystallisation:
          leaves.get(key) ??
          [...leaves.values()].find((leave) => leave.investorLogin === investorLogin && leave.suffix === feeSuffix),
      }),
      async returnReserve({ key }) {
        if (!returned.includes(key)) returned.push(key);
        return { amount: usd(0n) };
      },
    },
  };
  return fake;
}

export function allocate(fake: SubscriptionFake, masterLogin: string, dealAt: Date, parts: Parts): void {
  const { entries, rows } = allocationsOf(fake, masterLogin);
  const number = BigInt(entries.length + 1);
  const result = usd(Object.values(parts).reduce((sum, part) => sum + part, 0n));
  entries.push({ number, entry: { $case: "result", value: { dealId: 7_000n + number, dealAt, result } } });
  for (const [investorLogin, amountMinor] of inOrder(parts)) {
    const subscriptionId = BigInt(investorLogin);
    if (amountMinor !== 0n) rows.push({ number, subscriptionId, investorLogin, amountMinor, floatingE8: 0n });
  }
}

export type ClosedWeek = { readonly periodStart: Date; readonly cutOff: Date; readonly markedAt?: Date };

/** Appends the end of a week with the floating shares, in cents, of all Investors of the pool. */
export function closeWeek(fake: SubscriptionFake, masterLogin: string, week: ClosedWeek, floating: Parts): void {
  const { entries, rows } = allocationsOf(fake, masterLogin);
  const number = BigInt(entries.length + 1);
  entries.push({ number, entry: { $case: "week", value: { ...week, markedAt: week.markedAt } } });
  for (const [investorLogin, cents] of inOrder(floating)) {
    const subscriptionId = BigInt(investorLogin);
    rows.push({ number, subscriptionId, investorLogin, amountMinor: 0n, floatingE8: cents * E8_PER_CENT });
  }
}

export function lastNumberOf(fake: SubscriptionFake, masterLogin: string): bigint {
  return BigInt(allocationsOf(fake, masterLogin).entries.length);
}

function allocationsOf({ allocations }: SubscriptionFake, masterLogin: string): Allocations {
  const known = allocations.get(masterLogin) ?? { entries: [], rows: [] };
  allocations.set(masterLogin, known);
  return known;
}

function inOrder(parts: Parts): [string, bigint][] {
  return Object.entries(parts).toSorted(([left], [right]) => Number(left) - Number(right));
}

function usd(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}
