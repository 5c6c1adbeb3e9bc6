import type { Break } from "#proto/pamm/common/v1/reconciliation.ts";
import type { DecidedFee, Owed, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { SubscriptionStatus } from "#proto/pamm/subscription/v1/subscription.ts";
import type { Deps } from "../deps.ts";
import { decide, NOTHING, type Pair } from "./decide.ts";

/** Above every number of an entry. */
export const NEWEST = 2n ** 63n - 1n;

/** Cents by Investor login. */
export type Parts = Readonly<Record<string, bigint>>;

/** A closed week whose fees are not decided: what each Investor of the pool had earned until then, and its share of what floats. */
export type OpenWeek = {
  readonly masterLogin: string;
  readonly periodStart: Date;
  readonly cutOff: Date;
  readonly markedAt: Date | undefined;
  readonly number: bigint;
  readonly shares: readonly { readonly login: string; readonly earned: bigint; readonly floating: bigint }[];
};

export type Decision = { readonly request: RecordFeesRequest; readonly isRecorded: boolean };

/** What subscription keeps in its database, which is restored together with that of fee. */
export type Books = {
  /** By `<investor>/<master>`. */
  readonly pairs: Readonly<Record<string, Pair>>;
  /** The allocation entries of each Master: the time of a deal, or undefined for a week. */
  readonly entries: Readonly<Record<string, readonly (Date | undefined)[]>>;
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
  /** The shares of Investors in the floating result now, in cents, by login; of an Investor in no pool there is none. */
  readonly shares: Map<string, { readonly masterLogin: string; readonly floating: bigint; readonly markedAt?: Date }>;
  /** What has joined and left the pools of Investors, in cents, by login. */
  readonly flows: Map<string, { readonly inflow: bigint; readonly outflow: bigint; readonly complete?: boolean }>;
  readonly breaks: Break[];
  /** Of the last subscription of each Investor. */
  lastMaster: string | undefined;
  /** Decisions of one answer. */
  readonly decisionsPerPage: number;
  readonly client: Deps["subscriptions"];
};

export function subscriptionFake(now: () => Date): SubscriptionFake {
  const fake: SubscriptionFake = {
    books: { pairs: {}, entries: {}, weeks: [], decisions: [] },
    floors: new Map(),
    filedNumbers: new Map(),
    returned: [],
    shares: new Map(),
    flows: new Map(),
    breaks: [],
    lastMaster: undefined,
    decisionsPerPage: 2,
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
      async decidePendingFee({ terms: asked }) {
        const [terms] = asked?.investors ?? [];
        if (terms === undefined) throw new Error("terms are missing");
        const login = terms.investorLogin;
        const { masterLogin, ...share } = fake.shares.get(login) ?? { masterLogin: undefined };
        const pair = pairOf(fake, login, masterLogin ?? "");
        const through = lastNumberOf(fake, masterLogin ?? "");
        const facts = { masterLogin, pair, terms, at: now(), through, suffix: "W", occasion: now(), ...share };
        const { due, explanation } = decide(facts);
        const isKnown = Object.keys(fake.books.pairs).some((name) => name.startsWith(`${login}/`));
        return {
          masterLogin,
          at: facts.at,
          due,
          explanation,
          isKnown,
          totalMinor: sumLessPrepaid(due, terms.prepaid),
          ...lastDealOf(fake, masterLogin ?? "", through),
        };
      },
      async sumFlows({ investorLogin, masterLogin, throughNumber }) {
        const { inflow = 0n, outflow = 0n, complete = true } = fake.flows.get(investorLogin) ?? {};
        const sums = { inflow: usd(inflow), outflow: usd(outflow), complete };
        return { ...sums, ...lastDealOf(fake, masterLogin, throughNumber) };
      },
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

/** Of one Master: what is prepaid of another one is not tested here. */
function sumLessPrepaid(due: readonly DecidedFee[], prepaid: readonly Owed[]): bigint {
  const sum = (amounts: readonly { readonly amountMinor: bigint }[]) => {
    return amounts.reduce((total, { amountMinor }) => total + amountMinor, 0n);
  };
  const left = sum(due) - sum(prepaid);
  return left > 0n ? left : 0n;
}

export function pairOf({ books }: SubscriptionFake, investorLogin: string, masterLogin: string): Pair {
  return books.pairs[`${investorLogin}/${masterLogin}`] ?? NOTHING;
}

export function savePair(fake: SubscriptionFake, investorLogin: string, masterLogin: string, pair: Pair): void {
  fake.books = { ...fake.books, pairs: { ...fake.books.pairs, [`${investorLogin}/${masterLogin}`]: pair } };
}

export function allocate(fake: SubscriptionFake, masterLogin: string, at: Date, parts: Parts): void {
  addEntry(fake, masterLogin, at);
  for (const [login, amount] of Object.entries(parts)) {
    const pair = pairOf(fake, login, masterLogin);
    savePair(fake, login, masterLogin, { ...pair, earned: pair.earned + amount, from: pair.from ?? at, to: at });
  }
}

export type ClosedWeek = Pick<OpenWeek, "periodStart" | "cutOff" | "markedAt">;

/** The end of a week with the floating shares, in cents, of all Investors of the pool. */
export function closeWeek(fake: SubscriptionFake, masterLogin: string, week: ClosedWeek, floating: Parts): void {
  addEntry(fake, masterLogin, undefined);
  const shares = Object.entries(floating)
    .toSorted(([left], [right]) => Number(left) - Number(right))
    .map(([login, share]) => ({ login, floating: share, earned: pairOf(fake, login, masterLogin).earned }));
  const open = { ...week, masterLogin, number: lastNumberOf(fake, masterLogin), shares };
  fake.books = { ...fake.books, weeks: [...fake.books.weeks, open] };
}

export function lastNumberOf({ books }: SubscriptionFake, masterLogin: string): bigint {
  return BigInt(books.entries[masterLogin]?.length ?? 0);
}

function lastDealOf({ books }: SubscriptionFake, masterLogin: string, throughNumber: bigint) {
  const entries = books.entries[masterLogin]?.slice(0, Number(throughNumber)) ?? [];
  const index = entries.findLastIndex((at) => at !== undefined);
  return { throughDealId: index === -1 ? 0n : 7_001n + BigInt(index), throughDealAt: entries[index] };
}

function addEntry(fake: SubscriptionFake, masterLogin: string, at: Date | undefined): void {
  const { books } = fake;
  fake.books = { ...books, entries: { ...books.entries, [masterLogin]: [...(books.entries[masterLogin] ?? []), at] } };
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
