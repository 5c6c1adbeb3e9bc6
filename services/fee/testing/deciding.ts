import type { DecidedFees, RecordFeesRequest } from "#proto/pamm/fee/v1/fee.ts";
import { recordFees } from "../commands/record-fees.ts";
import type { Deps } from "../deps.ts";
import { findTerms } from "../queries/find-terms.ts";
import { decide } from "./decide.ts";
import { aCall } from "./fee.ts";
import { type OpenWeek, pairOf, savePair, type SubscriptionFake } from "./subscription-fake.ts";

/** Who decides, and what fee is asked with. */
export type Deciding = {
  readonly deps: Deps;
  readonly subscriptions: SubscriptionFake;
  readonly clock: { now: Date };
  /** Of a closed week, in one decision. */
  readonly investorsPerPage: number;
};

/** Decides the closed weeks, in pages, as subscription does, and has fee record what is decided. */
export async function decideWeeks(world: Deciding, deps: Deps = world.deps): Promise<void> {
  await planWeeks(world, deps);
  await recordDecisions(world, deps);
}

/** Decides the closed weeks. Those of stopped Masters wait. */
export async function planWeeks(world: Deciding, deps: Deps = world.deps): Promise<void> {
  const { subscriptions: fake } = world;
  const stopped = new Set<string>();
  for (const week of fake.books.weeks) {
    if (stopped.has(week.masterLogin)) continue;
    const requests = await requestsOf(world, deps, week);
    if (requests === undefined) stopped.add(week.masterLogin);
    else {
      for (const { due, investorLogin, after } of requests.flatMap((page) => page.investors)) {
        if (due.length > 0) savePair(fake, investorLogin, week.masterLogin, after);
      }
      const decisions = requests.map(({ request }) => ({ request, isRecorded: false }));
      const { books } = fake;
      const weeks = books.weeks.filter((each) => each !== week);
      fake.books = { ...books, weeks, decisions: [...books.decisions, ...decisions] };
    }
  }
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
async function requestsOf(world: Deciding, deps: Deps, week: OpenWeek) {
  const { subscriptions: fake, investorsPerPage } = world;
  const { masterLogin, periodStart, cutOff: periodEnd, markedAt, number: through } = week;
  const pages = [];
  for (let from = 0; from < week.shares.length; from += investorsPerPage) {
    const shares = week.shares.slice(from, from + investorsPerPage);
    const wanted = shares.map(({ login: investorLogin }) => ({ investorLogin, since: undefined }));
    const asked = await findTerms(deps, { masterLogin, investors: wanted });
    if (asked.isStopped) return undefined;
    const investors = asked.investors.map((terms, index) => {
      const { login, earned, floating } = shares[index] ?? { login: terms.investorLogin, earned: 0n, floating: 0n };
      const pair = { ...pairOf(fake, login, masterLogin), earned };
      const own = { masterLogin, pair, terms, at: periodEnd, through, markedAt };
      const decided = decide({ ...own, floating, suffix: "W", occasion: periodEnd });
      const after = { ...decided.after, earned: pairOf(fake, login, masterLogin).earned };
      return { investorLogin: login, openWeeklyKeys: [], due: decided.due, after };
    });
    const due = investors.filter((investor) => investor.due.length > 0);
    const isLast = from + investorsPerPage >= week.shares.length;
    const run = { masterLogin, key: "", periodStart, periodEnd, markedAt, isLast };
    if (due.length > 0 || isLast) pages.push({ investors, request: { ...run, investors: due.map(messageOf) } });
  }
  return pages;
}

function messageOf({ investorLogin, openWeeklyKeys, due }: DecidedFees): DecidedFees {
  return { investorLogin, openWeeklyKeys, due };
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
  const decided = decide({
    masterLogin: masterLogin === "" ? undefined : masterLogin,
    pair: pairOf(fake, investorLogin, masterLogin),
    terms,
    at: clock.now,
    through: BigInt(fake.books.entries[masterLogin]?.length ?? 0),
    suffix,
    occasion: key,
  });
  const own = { investorLogin, due: decided.due, openWeeklyKeys: terms.openWeekly.map((item) => item.key) };
  const run = { masterLogin: masterLogin === "" ? (decided.due[0]?.masterLogin ?? "") : masterLogin, key, periodStart };
  const request = { ...run, periodEnd: clock.now, markedAt: undefined, isLast: true, investors: [own] };
  savePair(fake, investorLogin, masterLogin, decided.after);
  fake.books = { ...fake.books, decisions: [...fake.books.decisions, { request, isRecorded: false }] };
  return request;
}
