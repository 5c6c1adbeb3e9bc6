import { concurrently } from "#kernel/concurrently.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#kernel/duration.ts";
import type { LeaseCandidate } from "#kernel/postgres/lease-candidate.ts";
import { deletedDeals } from "../amendments/amendments.ts";
import type { Deps } from "../deps.ts";
import type { DealName, GroupDeals, ShownDeal } from "../mt5/deal-batches.ts";
import type { Period } from "../mt5/deals.ts";
import { Mt5Error } from "../mt5/errors.ts";
import { CLOCK_WINDOW_MS } from "../mt5/server-clock.ts";
import { readUnlisted } from "../protocol/unshown-accounts.ts";
import { fileHistory, readLogin, REREAD_MS, type ReadSpan } from "../protocol/history/read-history.ts";
import { moveReadTo } from "../store/reader-cursor.ts";
import { KnownAccounts } from "./known-accounts.ts";
import { News } from "./news.ts";
import { GateOpener } from "./gate-opener.ts";
import { isUnreadable, readPages } from "./read-pages.ts";
import { firstSlice, readGroup, type SliceLength, type Span } from "./read-group.ts";
import { type GroupToRead, type Plan, ReadingPlan } from "./reading-plan.ts";
import { SeenDeals } from "./seen-deals.ts";
import { setAside } from "./set-aside.ts";

/** How far back one run reads, and which deals it misses when they are deleted: none, those that it has shown before, or all of the logs. */
export type ReadBack = {
  readonly backMs: number;
  readonly findsDeleted: "never" | "of_seen" | "of_logs";
};

/** Half of the usual sessions, so that commands find a free one. */
const MAX_CONCURRENT = 4;
/** A reader that takes over begins this much earlier. */
const SAVE_CURSOR_EVERY_MS = 10 * SECOND_MS;
/** After an outage the cursor moves by this much in each run, so that the next outage does not begin from the start. */
const MAX_STEP_MS = HOUR_MS;
/** How far before the last known instant the history is read in a database that may lack commits: clocks and time zones may have been wrong by hours. */
const LOST_COMMITS_MS = 24 * HOUR_MS;
/** The longest period that is read again, and a margin. */
const REMEMBERED_MS = HOUR_MS + 5 * MINUTE_MS;

export type ReaderRole = Pick<LeaseCandidate, "renewWithin"> & {
  /** False once another process reads. */
  readonly mayContinue: () => Promise<boolean>;
};

/** What all parts of one run share. */
type Run = {
  readonly span: Span;
  readonly startedAtMs: number;
  readonly failures: unknown[];
  /** Accounts with a deal that is not as documented, and since when their history was asked for. */
  readonly unreadable: Map<string, Date>;
};

/** Reads the history of all managed accounts, and remembers between its runs what it has read. One owner of the lease has one. */
export class AccountReader {
  readonly #deps: Deps;
  readonly #role: ReaderRole;
  readonly #known = new KnownAccounts();
  readonly #seen = new SeenDeals();
  readonly #deleted = deletedDeals(this.#seen);
  readonly #plan: ReadingPlan;
  readonly #gate: GateOpener;
  readonly #slices = new Map<string, SliceLength>();
  #news: News | undefined;
  #readToMs: number | undefined;
  #savedToMs: number | undefined;

  constructor(deps: Deps, role: ReaderRole) {
    this.#deps = deps;
    this.#role = role;
    this.#plan = new ReadingPlan(deps);
    this.#gate = new GateOpener(deps);
  }

  /** True while the reader is behind and another run has to follow at once. */
  async read(back: ReadBack): Promise<boolean> {
    const news = (this.#news ??= await this.#start());
    const undecided = await news.read();
    const nowMs = news.nowMs();
    const readToMs = Math.min(this.#readToMs ?? nowMs, nowMs);
    const isBehind = nowMs - readToMs > MAX_STEP_MS;
    const endMs = isBehind ? readToMs + MAX_STEP_MS : nowMs;
    const toMs = isBehind ? endMs : nowMs + CLOCK_WINDOW_MS;
    const run: Run = {
      span: { fromMs: this.#startOf(back, readToMs), nowMs: endMs, toMs },
      startedAtMs: performance.now(),
      failures: [],
      unreadable: new Map(),
    };
    // What an outage has left may be more than the slices of an idle group can show.
    if (nowMs - readToMs > MINUTE_MS) this.#slices.clear();
    for (const login of undecided) {
      await readLogin(this.#deps, login).catch((error: unknown) => {
        // It stays set aside, and the others are read.
        if (!isUnreadable(error)) run.failures.push(error);
      });
    }
    const plan = await this.#makePlan({ now: new Date(nowMs), readTo: new Date(readToMs) });
    const isWhole = await this.#readAll(run, plan);
    for (const [login, from] of run.unreadable) await setAside(this.#deps, login, from);
    if (run.failures.length > 0) throw new AggregateError(run.failures, "the history of some logins could not be read");
    if (isWhole) {
      if (back.findsDeleted === "of_seen") await this.#deleted.noteVanished(this.#deps, run.span, run.startedAtMs);
      if (back.findsDeleted === "of_logs") await this.#deleted.noteMissing(this.#deps, run.span, run.startedAtMs);
      this.#plan.noteRead(plan);
      await this.#moveCursor(endMs);
      if (!isBehind) await this.#gate.noteCaughtUp(nowMs);
    }
    this.#seen.forgetBefore(run.span.nowMs - REMEMBERED_MS);
    await this.#deleted.requestMissing(this.#deps);
    return isWhole && isBehind;
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

  /** A read that compares with what was shown before begins after the deals that were too many to be remembered. */
  #startOf({ backMs, findsDeleted }: ReadBack, readToMs: number): number {
    const fromMs = readToMs - backMs;
    if (findsDeleted !== "of_seen") return fromMs;
    return Math.max(fromMs, Math.min(this.#seen.fullToMs, readToMs - REREAD_MS));
  }

  async #start(): Promise<News> {
    const { news, readTo } = await News.start({
      pool: this.#deps.pool,
      role: this.#role,
      known: this.#known,
    });
    const isSameDatabase = await this.#gate.start();
    this.#readToMs = readTo && readTo.getTime() - (isSameDatabase ? 0 : LOST_COMMITS_MS);
    return news;
  }

  /** False when another process has taken over. A group or page that cannot be read does not prevent the others. */
  async #readAll(run: Run, { groups, logins, moved }: Plan): Promise<boolean> {
    let isWhole = true;
    await concurrently(groups, MAX_CONCURRENT, async (group) => {
      if (!(await this.#readGroup(run, group))) isWhole = false;
    });
    const period = { from: new Date(run.span.fromMs), to: new Date(run.span.toMs) };
    if (!isWhole) return false;
    await this.#readPages(run, logins, { since: period.from, period });
    if (moved !== undefined) {
      const since = new Date(Math.min(moved.from.getTime(), run.span.fromMs));
      await this.#readPages(run, moved.logins, { since, period: { from: since, to: period.to } });
    }
    return true;
  }

  async #readGroup(run: Run, group: GroupToRead): Promise<boolean> {
    const { name, accounts, absent } = group;
    const slice = this.#slices.get(name) ?? firstSlice();
    this.#slices.set(name, slice);
    const since = new Date(run.span.fromMs);
    try {
      const end = await readGroup({
        span: run.span,
        slice,
        find: (period) => this.#findGroupDeals(name, period),
        take: async ({ deals, known, unreadable }, period) => {
          for (const login of unreadable) noteUnreadable(run, login, since);
          await this.#take({ deals, known, since, from: period.from });
        },
        readByLogin: async (period) => {
          const present = accounts.filter(({ login }) => !absent.has(login)).map(({ login }) => login);
          await this.#readPages(run, present, { since, period });
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
      return await this.#deps.mt5.findGroupDeals(name, period, {
        isAskedFor: (login) => this.#known.has(login),
        recall: (mark) => this.#seen.recall(mark),
      });
    } catch (error) {
      if (!isUnreadable(error)) throw error;
      return { kind: "refused", reason: error.message };
    }
  }

  async #readPages(run: Run, logins: readonly string[], { since, period }: PageSpan): Promise<void> {
    const { unreadable, failures } = await readPages(logins, {
      find: (page, within) => this.#deps.mt5.findDeals(page, within),
      take: (deals) => this.#take({ deals, known: [], since, from: period.from }),
      period,
      concurrency: MAX_CONCURRENT,
    });
    for (const login of unreadable) noteUnreadable(run, login, since);
    run.failures.push(...failures);
  }

  /** Files the new ones of the deals that one read has shown. */
  async #take({ deals, known, ...span }: Taken): Promise<void> {
    this.#deleted.noteShown([...known, ...deals]);
    this.#seen.noteShownAgain(known);
    const fresh = this.#seen.noteShown(deals);
    if (fresh.length === 0) return;
    this.#seen.noteRecorded(await fileHistory(this.#deps, fresh, { ...span, database: this.#deps.sender.database }));
  }

  /** The cursor moves only after every account was read, so the next run repeats a failed one from its beginning. */
  async #moveCursor(toMs: number): Promise<void> {
    this.#readToMs = Math.max(this.#readToMs ?? toMs, toMs);
    if (this.#savedToMs !== undefined && this.#readToMs - this.#savedToMs < SAVE_CURSOR_EVERY_MS) return;
    await moveReadTo(this.#deps.pool, new Date(this.#readToMs));
    this.#savedToMs = this.#readToMs;
  }
}

type Taken = ReadSpan & {
  readonly deals: readonly ShownDeal[];
  /** Deals that were recalled by their rows. */
  readonly known: readonly DealName[];
};

type PageSpan = { readonly since: Date; readonly period: Period };

function noteUnreadable({ unreadable }: Run, login: string, since: Date): void {
  const before = unreadable.get(login);
  if (before === undefined || since < before) unreadable.set(login, since);
}
