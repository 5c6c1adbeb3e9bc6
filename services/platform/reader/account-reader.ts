import { concurrently } from "#kernel/batches/concurrently.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import type { LeaseCandidate } from "#kernel/postgres/lease.ts";
import { DeletedDeals, ShownDeals } from "../amendments/amendments.ts";
import type { Deps } from "../deps.ts";
import type { GroupDeals } from "../mt5/deal-batches.ts";
import type { Deal, Period } from "../mt5/deals.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { readUnlisted } from "../protocol/unshown-accounts.ts";
import { fileHistory, readLogin, type ReadSpan } from "../protocol/history/read-history.ts";
import { findRereadTo, moveReadTo, moveRereadTo } from "../store/reader-cursor.ts";
import { ComparedDeals } from "./compared-deals.ts";
import { KnownAccounts, type News, startNews } from "./news.ts";
import { GateOpener } from "./gate-opener.ts";
import { isUnreadable, readPages } from "./read-pages.ts";
import { firstSlice, readGroup, type SliceLength, type Span } from "./read-group.ts";
import { type GroupToRead, type Plan, ReadingPlan } from "./reading-plan.ts";
import { setAside } from "./set-aside.ts";

export type ReadBack = {
  /** How far back one run reads. */
  readonly backMs: number;
  /** It compares the logs with what it was shown, so that it finds deleted deals. */
  readonly findsDeleted: boolean;
  /** It does not compare again what was compared before and is shown unchanged. */
  readonly skipsCompared?: boolean;
};

/** A reader that takes over begins this much earlier. */
const SAVE_CURSOR_EVERY_MS = 10 * SECOND_MS;
/** After an outage the cursor moves by this much in each run, so that the next outage does not begin from the start. */
const MAX_STEP_MS = HOUR_MS;
/** How far before the last known instant the history is read in a database that may lack commits: clocks and time zones may have been wrong by hours. */
const LOST_COMMITS_MS = 24 * HOUR_MS;
/** The clocks of the platform and of the database may differ by this much at the edge of a period. */
const EDGE_MS = 2 * SECOND_MS;
/** What is compared with the logs together: of 250,000 deals in an hour fewer than 20,000. */
const PART_MS = 4 * MINUTE_MS;
/** Deals that are filed together: what an idle server shows of all groups is looked up with one statement. */
const MAX_FILED = 1_000;

export type ReaderRole = Pick<LeaseCandidate, "renewWithin"> & {
  /** False once another process reads. */
  readonly mayContinue: () => Promise<boolean>;
};

/** What all parts of one run share. */
type Run = {
  readonly nowMs: number;
  /** The history is read completely from here. */
  readonly since: Date;
  readonly failures: unknown[];
  readonly skipsCompared: boolean;
  /** Accounts with a deal that is not as documented, and since when their history was asked for. */
  readonly unreadable: Map<string, Date>;
};

/** Reads the history of all managed accounts. One holder of the lease has one. */
export class AccountReader {
  readonly #deps: Deps;
  readonly #role: ReaderRole;
  readonly #known = new KnownAccounts();
  readonly #deleted = new DeletedDeals();
  readonly #compared = new ComparedDeals();
  readonly #plan: ReadingPlan;
  readonly #gate: GateOpener;
  readonly #slices = new Map<string, SliceLength>();
  #news: News | undefined;
  #readToMs: number | undefined;
  #savedToMs: number | undefined;
  /** Up to here deals were read again when they were a day old. */
  #oldToMs = 0;

  constructor(deps: Deps, role: ReaderRole) {
    this.#deps = deps;
    this.#role = role;
    this.#plan = new ReadingPlan(deps);
    this.#gate = new GateOpener(deps);
  }

  /** True while the reader is behind and another run has to follow at once. */
  async read({ backMs, findsDeleted, skipsCompared = false }: ReadBack): Promise<boolean> {
    const news = (this.#news ??= await this.#start());
    const undecided = await news.read();
    const nowMs = news.nowMs();
    const readToMs = Math.min(this.#readToMs ?? nowMs, nowMs);
    const isBehind = nowMs - readToMs > MAX_STEP_MS;
    const endMs = isBehind ? readToMs + MAX_STEP_MS : nowMs;
    const span = { fromMs: readToMs - backMs, nowMs: endMs, toMs: isBehind ? endMs : nowMs + CLOCK_WINDOW_MS };
    const run = aRun(nowMs, span.fromMs, skipsCompared);
    // What an outage has left may be more than the slices of an idle group can show.
    if (nowMs - readToMs > MINUTE_MS) this.#slices.clear();
    for (const login of undecided) {
      await readLogin(this.#deps, login).catch((error: unknown) => {
        // It stays set aside, and the others are read.
        if (!isUnreadable(error)) run.failures.push(error);
      });
    }
    const plan = await this.#makePlan({ now: new Date(nowMs), readTo: new Date(readToMs) });
    const isWhole = findsDeleted
      ? await this.#readInParts(run, plan, span)
      : await this.#readAll(run, plan, span, new ShownDeals());
    await this.#end(run);
    if (isWhole) {
      if (findsDeleted && skipsCompared) this.#compared.forgetBefore(span.fromMs);
      this.#plan.noteRead(plan);
      await this.#moveCursor(endMs);
      if (!isBehind) await this.#gate.noteCaughtUp(nowMs);
    }
    await this.#deleted.requestMissing(this.#deps);
    return isWhole && isBehind;
  }

  /** Reads the deals that have become a day old since the last time, because a server that restarts may have lost them, and dealers amend deals. */
  async readOld(): Promise<void> {
    const news = (this.#news ??= await this.#start());
    const nowMs = news.nowMs();
    const fromMs = this.#oldToMs;
    const toMs = Math.min(nowMs - DAY_MS, fromMs + MAX_STEP_MS);
    const run = aRun(nowMs, fromMs, false);
    const plan = await this.#makePlan({ now: new Date(nowMs), readTo: new Date(nowMs) });
    const span = { fromMs, nowMs: toMs + EDGE_MS, toMs: toMs + 2 * EDGE_MS };
    const isWhole = await this.#readInParts(run, plan, span);
    await this.#end(run);
    if (!isWhole) return;
    this.#oldToMs = toMs;
    await moveRereadTo(this.#deps.pool, new Date(toMs));
  }

  /** What could not be read: accounts with an odd deal are set aside, and the job repeats what has failed. */
  async #end({ unreadable, failures }: Run): Promise<void> {
    for (const [login, from] of unreadable) await setAside(this.#deps, login, from);
    if (failures.length > 0) throw new AggregateError(failures, "the history of some logins could not be read");
  }

  /** Reads all accounts in parts, and compares each with the logs. False when another process has taken over. */
  async #readInParts(run: Run, plan: Plan, span: Span): Promise<boolean> {
    for (let { fromMs } = span; ;) {
      const nowMs = Math.min(fromMs + PART_MS, span.nowMs);
      const isLast = nowMs === span.nowMs;
      const part = isLast ? { ...span, fromMs } : { fromMs, nowMs: nowMs + EDGE_MS, toMs: nowMs + 2 * EDGE_MS };
      const shown = new ShownDeals();
      if (!(await this.#readAll(run, plan, part, shown))) return false;
      if (run.failures.length > 0) return true;
      const compared = { from: new Date(fromMs + EDGE_MS), to: new Date(part.nowMs), nowMs: run.nowMs };
      await this.#deleted.noteMissing(this.#deps, compared, shown);
      if (isLast) return true;
      fromMs = nowMs;
    }
  }

  /** An account that has left its group may be shown nowhere: without money it is not read until it is shown again. */
  async #makePlan(at: { readonly now: Date; readonly readTo: Date }): Promise<Plan> {
    const plan = await this.#plan.make(this.#known, at);
    if (plan.moved === undefined) return plan;
    const unshown = await readUnlisted(this.#deps, plan.moved.logins).catch((error: unknown) => {
      if (error instanceof Mt5Error) return [];
      throw error;
    });
    if (unshown.length === 0) return plan;
    this.#known.remove(unshown);
    this.#plan.forget(unshown);
    return await this.#plan.make(this.#known, at);
  }

  async #start(): Promise<News> {
    const { news, readTo } = await startNews({ pool: this.#deps.pool, role: this.#role, known: this.#known });
    const isSameDatabase = await this.#gate.start();
    this.#readToMs = readTo && readTo.getTime() - (isSameDatabase ? 0 : LOST_COMMITS_MS);
    const rereadTo = await findRereadTo(this.#deps.pool);
    this.#oldToMs = rereadTo?.getTime() ?? (readTo?.getTime() ?? news.nowMs()) - DAY_MS;
    return news;
  }

  /** False when another process has taken over. A group or page that cannot be read does not prevent the others. */
  async #readAll(run: Run, { groups, logins, moved }: Plan, span: Span, shown: ShownDeals): Promise<boolean> {
    let isWhole = true;
    const reading: Reading = { run, span, shown, waiting: new Map() };
    await concurrently(groups, this.#deps.settings.sessionsAtOnce, async (group) => {
      if (!(await this.#readGroup(reading, group))) isWhole = false;
    });
    if (!isWhole) return false;
    const period = { from: new Date(span.fromMs), to: new Date(span.toMs) };
    await this.#readPages(reading, logins, { since: run.since, period });
    await this.#fileWaiting(reading).catch((error: unknown) => run.failures.push(error));
    if (moved !== undefined) {
      const since = new Date(Math.min(moved.from.getTime(), run.since.getTime()));
      await this.#readPages(reading, moved.logins, { since, period: { from: since, to: period.to } });
    }
    return true;
  }

  async #readGroup(reading: Reading, group: GroupToRead): Promise<boolean> {
    const { run, span } = reading;
    const { since } = run;
    const { name, accounts, absent } = group;
    const slice = this.#slices.get(name) ?? firstSlice();
    this.#slices.set(name, slice);
    try {
      const end = await readGroup({
        span,
        slice,
        find: (period) => this.#findGroupDeals(name, period),
        take: async ({ deals, unreadable }, period) => {
          for (const login of unreadable) noteUnreadable(run, login, since);
          await this.#take(reading, deals, { since, period });
        },
        readByLogin: async (period) => {
          const present = accounts.filter(({ login }) => !absent.has(login)).map(({ login }) => login);
          await this.#readPages(reading, present, { since, period });
        },
        mayContinue: this.#role.mayContinue,
      });
      if (end.kind === "refused") this.#plan.refuse(name, end.reason);
      else this.#plan.accept(name);
      return end.kind !== "stopped";
    } catch (error) {
      run.failures.push(error);
      return true;
    }
  }

  /** An answer that is not as documented is like a refusal: only the accounts that it concerns cannot be read by login. */
  async #findGroupDeals(name: string, period: Period): Promise<GroupDeals> {
    try {
      return await this.#deps.mt5.findGroupDeals(name, period, { isAskedFor: (login) => this.#known.has(login) });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { kind: "refused", reason: error.message };
    }
  }

  async #readPages(reading: Reading, logins: readonly string[], { since, period }: PageSpan): Promise<void> {
    const { run } = reading;
    const { unreadable, failures } = await readPages(logins, {
      find: (page, within) => this.#deps.mt5.findDeals(page, within),
      take: (deals) => this.#take(reading, deals, { since, period }),
      period,
      concurrency: this.#deps.settings.sessionsAtOnce,
    });
    for (const login of unreadable) noteUnreadable(run, login, since);
    run.failures.push(...failures);
  }

  /** Files the new ones of the deals that one read has shown, and reports those that were amended. Those of the whole span wait for others. */
  async #take(reading: Reading, deals: readonly Deal[], { since, period: { from, to } }: PageSpan): Promise<void> {
    const { run, span, shown, waiting } = reading;
    this.#deleted.noteShown(deals);
    shown.add(deals);
    const toCompare = run.skipsCompared ? this.#compared.othersOf(deals) : deals;
    const isWhole = from.getTime() === span.fromMs && to.getTime() === span.toMs;
    if (!isWhole) return await this.#file(run, toCompare, { since, from, to });
    // An account that has returned to its group is shown twice.
    for (const deal of toCompare) waiting.set(deal.ticket, deal);
    if (waiting.size >= MAX_FILED) await this.#fileWaiting(reading);
  }

  async #fileWaiting({ run, span, waiting }: Reading): Promise<void> {
    const deals = [...waiting.values()];
    waiting.clear();
    await this.#file(run, deals, { since: run.since, from: new Date(span.fromMs), to: new Date(span.toMs) });
  }

  async #file(run: Run, deals: readonly Deal[], span: Pick<ReadSpan, "since" | "from" | "to">): Promise<void> {
    if (deals.length === 0) return;
    const unchanged = await fileHistory(this.#deps, deals, { ...span, database: this.#deps.sender.database });
    if (run.skipsCompared) this.#compared.add(unchanged);
  }

  /** The cursor moves only after every account was read, so the next run repeats a failed one from its beginning. */
  async #moveCursor(toMs: number): Promise<void> {
    this.#readToMs = Math.max(this.#readToMs ?? toMs, toMs);
    if (this.#savedToMs !== undefined && this.#readToMs - this.#savedToMs < SAVE_CURSOR_EVERY_MS) return;
    await moveReadTo(this.#deps.pool, new Date(this.#readToMs));
    this.#savedToMs = this.#readToMs;
  }
}

/** One read of a period, and what it has shown. */
type Reading = {
  readonly run: Run;
  readonly span: Span;
  readonly shown: ShownDeals;
  /** Deals of the whole span that are not filed yet, by ticket. */
  readonly waiting: Map<bigint, Deal>;
};

type PageSpan = { readonly since: Date; readonly period: Period };

function aRun(nowMs: number, fromMs: number, skipsCompared: boolean): Run {
  return { nowMs, since: new Date(fromMs), failures: [], unreadable: new Map(), skipsCompared };
}

function noteUnreadable({ unreadable }: Run, login: string, since: Date): void {
  const before = unreadable.get(login);
  if (before === undefined || since < before) unreadable.set(login, since);
}
