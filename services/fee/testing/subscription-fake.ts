import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import type { RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import {
  type DecidePendingFeeResponse,
  SubscriptionStatus,
  type SumFlowsResponse,
} from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";

/** Above every number of an entry. */
export const NEWEST = 2n ** 63n - 1n;

/** Cents by Investor login. */
export type Parts = Readonly<Record<string, bigint>>;

/** The profit of an Investor with a Master, in cents, and how much of it is charged. */
export type Pair = { readonly earned: bigint; readonly mark: bigint };

/** A closed week whose fees are not decided: what each Investor of the pool had earned until then, and its share of what floats. */
export type OpenWeek = {
  readonly masterLogin: string;
  readonly periodStart: Date;
  readonly cutOff: Date;
  readonly shares: readonly { readonly login: string; readonly earned: bigint; readonly floating: bigint }[];
};

export type Decision = { readonly request: RecordFeesRequest; readonly isRecorded: boolean };

/** What subscription keeps in its database, which is restored together with that of fee. */
export type Books = {
  /** By `<investor>/<master>`. */
  readonly pairs: Readonly<Record<string, Pair>>;
  readonly weeks: readonly OpenWeek[];
  readonly decisions: readonly Decision[];
};

/** The calls of the fee service to the subscription service, in memory: decisions, floors and returned reserves. */
export type SubscriptionFake = {
  books: Books;
  readonly floors: Map<string, bigint>;
  /** The log position of the floor of a login; by default all of its log is in it. */
  readonly filedNumbers: Map<string, bigint>;
  readonly returned: string[];
  /** What subscription decides when it is asked what is pending; the Investor is in no pool and owes nothing. */
  pending: Partial<DecidePendingFeeResponse>;
  /** What has joined and left the pools. */
  flows: Partial<SumFlowsResponse>;
  readonly breaks: Break[];
  /** Of the last subscription of each Investor. */
  lastMaster: string | undefined;
  readonly client: Deps["subscriptions"];
};

export function subscriptionFake(now: () => Date): SubscriptionFake {
  const fake: SubscriptionFake = {
    books: { pairs: {}, weeks: [], decisions: [] },
    floors: new Map(),
    filedNumbers: new Map(),
    returned: [],
    pending: {},
    flows: {},
    breaks: [],
    lastMaster: undefined,
    client: {
      async getFeeFloors({ investorLogins }) {
        const known = investorLogins.filter((login) => fake.floors.has(login));
        return {
          floors: known.map((investorLogin) => ({
            investorLogin,
            floor: usd(fake.floors.get(investorLogin) ?? 0n),
            filedNumber: fake.filedNumbers.get(investorLogin) ?? NEWEST,
          })),
        };
      },
      async listSubscriptions({ investorLogin }) {
        return {
          items: fake.lastMaster === undefined ? [] : [aSubscription(investorLogin, fake.lastMaster)],
          hasMore: false,
        };
      },
      decidePendingFee: async () => ({
        masterLogin: undefined,
        at: now(),
        due: [],
        explanation: undefined,
        isKnown: false,
        totalMinor: 0n,
        throughDealId: 0n,
        throughDealAt: undefined,
        ...fake.pending,
      }),
      sumFlows: async () => ({
        inflow: usd(0n),
        outflow: usd(0n),
        complete: true,
        throughDealId: 0n,
        throughDealAt: undefined,
        ...fake.flows,
      }),
      async listBreaks({ afterId, limit }) {
        const items = fake.breaks.filter(({ id }) => id > afterId).slice(0, limit);
        return { items, hasMore: false, checks: [] };
      },
      async returnReserve({ key }) {
        if (!fake.returned.includes(key)) fake.returned.push(key);
        return { amount: usd(0n) };
      },
    },
  };
  return fake;
}

export function pairOf({ books }: SubscriptionFake, investorLogin: string, masterLogin: string): Pair {
  return books.pairs[`${investorLogin}/${masterLogin}`] ?? { earned: 0n, mark: 0n };
}

export function savePair(fake: SubscriptionFake, investorLogin: string, masterLogin: string, pair: Pair): void {
  fake.books = { ...fake.books, pairs: { ...fake.books.pairs, [`${investorLogin}/${masterLogin}`]: pair } };
}

export function allocate(fake: SubscriptionFake, masterLogin: string, parts: Parts): void {
  for (const [login, amount] of Object.entries(parts)) {
    const { earned, mark } = pairOf(fake, login, masterLogin);
    savePair(fake, login, masterLogin, { earned: earned + amount, mark });
  }
}

/** The end of a week with the floating shares, in cents, of all Investors of the pool. */
export function closeWeek(fake: SubscriptionFake, week: Omit<OpenWeek, "shares">, floating: Parts): void {
  const shares = Object.entries(floating)
    .toSorted(([left], [right]) => Number(left) - Number(right))
    .map(([login, share]) => ({ login, floating: share, earned: pairOf(fake, login, week.masterLogin).earned }));
  fake.books = { ...fake.books, weeks: [...fake.books.weeks, { ...week, shares }] };
}

function usd(minorUnits: bigint) {
  return { currencyCode: "USD", minorUnits };
}

function aSubscription(investorLogin: string, masterLogin: string) {
  return {
    id: 1n,
    masterId: BigInt(masterLogin),
    investorId: 17n,
    masterLogin,
    investorLogin,
    status: SubscriptionStatus.ACTIVE,
    inPool: true,
    startedAt: undefined,
    endedAt: undefined,
    createdAt: undefined,
    balanceBaselineOpId: 0n,
  };
}
