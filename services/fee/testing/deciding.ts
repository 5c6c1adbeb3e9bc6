import type { DecidedFee, InvestorTerms, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { recordFees } from "../commands/record-fees.ts";
import type { Deps } from "../deps.ts";
import { findTerms } from "../queries/find-terms.ts";
import { aCall } from "./fee.ts";
import { type OpenWeek, type Pair, pairOf, savePair, type SubscriptionFake } from "./subscription-fake.ts";

/** Who decides, and what fee is asked with. */
export type Deciding = {
  readonly deps: Deps;
  readonly subscriptions: SubscriptionFake;
  readonly clock: { now: Date };
  /** Of a closed week, in one decision. */
  readonly investorsPerPage: number;
};

/** Decides the closed weeks, in pages, as subscription does, and has fee record what is decided. Those of stopped Masters wait. */
export async function decideWeeks(world: Deciding, deps: Deps = world.deps): Promise<void> {
  const { subscriptions: fake } = world;
  const stopped = new Set<string>();
  for (const week of fake.books.weeks) {
    if (stopped.has(week.masterLogin)) continue;
    const requests = await requestsOf(world, deps, week);
    if (requests === undefined) {
      stopped.add(week.masterLogin);
      continue;
    }
    const { books } = fake;
    const weeks = books.weeks.filter((each) => each !== week);
    const decisions = requests.map((request) => ({ request, isRecorded: false }));
    fake.books = { ...books, weeks, decisions: [...books.decisions, ...decisions] };
  }
  await recordDecisions(world, deps);
}

/** Has fee record what it has not answered for. */
export async function recordDecisions({ subscriptions: fake }: Deciding, deps: Deps): Promise<void> {
  for (const { request, isRecorded } of fake.books.decisions) {
    if (isRecorded) continue;
    await recordFees(deps, request, aCall());
    const decisions = fake.books.decisions.map((each) =>
      each.request === request ? { ...each, isRecorded: true } : each,
    );
    fake.books = { ...fake.books, decisions };
  }
}

/** The pages of a week; undefined while the fees of its Master are stopped. Pages without fees have none, except the last one. */
async function requestsOf(world: Deciding, deps: Deps, week: OpenWeek): Promise<RecordFeesRequest[] | undefined> {
  const { subscriptions: fake, investorsPerPage } = world;
  const { masterLogin, periodStart, cutOff: periodEnd } = week;
  const pages: RecordFeesRequest[] = [];
  const marks = new Map<string, bigint>();
  for (let from = 0; from < week.shares.length; from += investorsPerPage) {
    const shares = week.shares.slice(from, from + investorsPerPage);
    const wanted = shares.map(({ login: investorLogin }) => ({ investorLogin, since: undefined }));
    const asked = await findTerms(deps, { masterLogin, investors: wanted });
    if (asked.isStopped) return undefined;
    const investors = asked.investors.flatMap((terms, index) => {
      const { investorLogin } = terms;
      const { earned, floating } = shares[index] ?? { earned: 0n, floating: 0n };
      const pair = { ...pairOf(fake, investorLogin, masterLogin), earned };
      const own = { masterLogin, terms, at: periodEnd, suffix: "W", occasion: periodEnd.toISOString() };
      const { due, mark } = decide({ ...own, pair, floating });
      marks.set(investorLogin, mark);
      return due.length === 0 ? [] : { investorLogin, openWeeklyKeys: [], due };
    });
    const isLast = from + investorsPerPage >= week.shares.length;
    const run = { masterLogin, key: "", periodStart, periodEnd, isLast };
    if (investors.length > 0 || isLast) pages.push({ ...run, investors });
  }
  for (const [login, mark] of marks) savePair(fake, login, masterLogin, { ...pairOf(fake, login, masterLogin), mark });
  return pages;
}

type Facts = {
  /** Empty outside a pool. */
  readonly masterLogin: string;
  readonly pair: Pair;
  readonly terms: InvestorTerms;
  readonly at: Date;
  /** Cents; an open loss protects profit. */
  readonly floating?: bigint;
  /** Last part of the unique key of the fee. */
  readonly suffix: string;
  /** The cut-off of a week, or the key of a withdrawal or exit. */
  readonly occasion: string;
};

/** What is due of an Investor: its debts, and a fee of the profit that is not charged. Without an explanation. */
function decide({ masterLogin, pair, terms, at, floating = 0n, suffix, occasion }: Facts) {
  const { earned, mark } = pair;
  const step = terms.steps.findLast(({ from }) => from === undefined || from <= at);
  if (step?.enabled !== true) return { due: [], mark };
  const owner = (login: string) => `fee:${terms.investorLogin}:${login}`;
  const debts = terms.debts.map((debt): DecidedFee => {
    const key = `${owner(debt.masterLogin)}:DEBT:${occasion}`;
    return { key, kind: "PF_DEBT", suffix: "DEBT", ...debt, explanation: undefined };
  });
  const charged = earned - mark + (floating < 0n ? floating : 0n);
  const amountMinor = (charged * BigInt(step.ratePpm)) / 1_000_000n;
  if (masterLogin === "" || amountMinor <= 0n) return { due: debts, mark };
  const key = suffix === "W" ? `${owner(masterLogin)}:W:${occasion}` : `${owner(masterLogin)}:${suffix}`;
  const fee = { key, kind: "PF", suffix, masterLogin, amountMinor, since: at, explanation: undefined };
  return { due: [...debts, fee], mark: mark + charged };
}

/** A withdrawal or exit. */
export type Leave = {
  readonly key: string;
  readonly investorLogin: string;
  /** Empty outside a pool. */
  readonly masterLogin: string;
  readonly periodStart: Date | undefined;
  readonly suffix: string;
};

/** What subscription has decided under the key, or decides now. Undefined while the fees of the Master are stopped. */
export async function requestOf(world: Deciding, deps: Deps, leave: Leave): Promise<RecordFeesRequest | undefined> {
  const { subscriptions: fake, clock } = world;
  const { key, investorLogin, masterLogin, periodStart, suffix } = leave;
  const known = fake.books.decisions.find(({ request }) => request.key === key);
  if (known !== undefined) return known.request;
  const asked = await findTerms(deps, { masterLogin, investors: [{ investorLogin, since: undefined }] });
  const [terms] = asked.investors;
  if (asked.isStopped || terms === undefined) return undefined;
  const pair = pairOf(fake, investorLogin, masterLogin);
  const { due, mark } = decide({ masterLogin, pair, terms, at: clock.now, suffix, occasion: key });
  const own = { investorLogin, due, openWeeklyKeys: terms.openWeekly.map((item) => item.key) };
  const run = { masterLogin: masterLogin === "" ? (due[0]?.masterLogin ?? "") : masterLogin, key, periodStart };
  const request = { ...run, periodEnd: clock.now, isLast: true, investors: [own] };
  savePair(fake, investorLogin, masterLogin, { ...pair, mark });
  fake.books = { ...fake.books, decisions: [...fake.books.decisions, { request, isRecorded: false }] };
  return request;
}
