import { MINUTE_MS, SECOND_MS } from "#kernel/values/duration.ts";
import type { LeaseCandidate } from "#kernel/postgres/lease.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { listManaged, type ManagedAccount } from "../store/accounts.ts";
import { findReadTo, readNews } from "../store/reader-cursor.ts";

/** Deals of an account that is not known yet are dropped, and read again for longer than this. */
const NEWS_EVERY_MS = 2 * SECOND_MS;
/** Longer than an account takes from its time of management to its commit. */
const COMMITTED_WITHIN_MS = MINUTE_MS;
/** Accounts that are loaded at once. */
const ACCOUNTS_PER_PAGE = 10_000;
/** Each is read by itself. The others follow in the next runs. */
const UNDECIDED_PER_RUN = 100;

/** A managed account in memory, of which there may be a million. */
export type KnownAccount = { readonly login: string; readonly managedAtMs: number };

export type KnownGroup = { readonly name: string; readonly accounts: readonly KnownAccount[] };

type Group = KnownGroup & { accounts: KnownAccount[]; hasMaster: boolean };

/** The managed accounts in memory: the reader drops deals of other accounts before it asks the database about them. */
export class KnownAccounts {
  readonly #logins = new Set<string>();
  readonly #groups = new Map<string, Group>();

  /** Accounts stay under management and keep their recorded group. */
  add(accounts: readonly ManagedAccount[]): void {
    for (const { login, role, group: name, managedAt } of accounts) {
      if (this.#logins.has(login)) continue;
      this.#logins.add(login);
      const group = this.#groups.get(name) ?? { name, accounts: [], hasMaster: false };
      this.#groups.set(name, group);
      group.accounts.push({ login, managedAtMs: managedAt.getTime() });
      group.hasMaster ||= role === "master";
    }
  }

  /** They are not read until they are added again. */
  remove(logins: readonly string[]): void {
    const removed = new Set(logins.filter((login) => this.#logins.delete(login)));
    if (removed.size === 0) return;
    for (const group of this.#groups.values()) {
      group.accounts = group.accounts.filter(({ login }) => !removed.has(login));
    }
  }

  has(login: string): boolean {
    return this.#logins.has(login);
  }

  /** Groups with Masters are first, because trades are read from there. */
  groups(): readonly KnownGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => Number(b.hasMaster) - Number(a.hasMaster));
  }
}

type NewsOptions = {
  readonly pool: Pool;
  readonly role: Pick<LeaseCandidate, "renewWithin">;
  readonly known: KnownAccounts;
};

/** What a reader knows of the database without asking it in every run: its clock and its accounts. */
export class News {
  readonly #pool: Pool;
  readonly #role: NewsOptions["role"];
  readonly #known: KnownAccounts;
  #clock: { readonly ms: number; readonly atMs: number };
  #readAtMs = -Infinity;
  #undecidedAfter = "";

  private constructor({ pool, role, known }: NewsOptions, now: Date) {
    this.#pool = pool;
    this.#role = role;
    this.#known = known;
    this.#clock = clockAt(now);
  }

  /** Loads all accounts. Also returns the instant up to which an earlier reader has read. */
  static async start(options: NewsOptions): Promise<{ readonly news: News; readonly readTo: Date | undefined }> {
    const { now, readTo } = await findReadTo(options.pool);
    const news = new News(options, now);
    await news.#loadAccounts();
    return { news, readTo };
  }

  /** The database's clock, a little late: what happens now is read again rather than missed. */
  nowMs(): number {
    return Math.floor(this.#clock.ms + performance.now() - this.#clock.atMs);
  }

  /** Learns of new accounts and of those that are not shown, and renews the lease with the same statement. Returns logins with an undecided deal; none when it was asked for just before. */
  async read(): Promise<readonly string[]> {
    if (performance.now() < this.#readAtMs) return [];
    const { now, managed, unshown, undecided } = await this.#role.renewWithin((renewed) =>
      readNews(this.#pool, {
        renewed,
        since: new Date(this.#clock.ms - COMMITTED_WITHIN_MS),
        maxManaged: ACCOUNTS_PER_PAGE,
        undecidedAfter: this.#undecidedAfter,
        maxUndecided: UNDECIDED_PER_RUN,
      }),
    );
    this.#known.remove(unshown);
    if (managed.length >= ACCOUNTS_PER_PAGE) await this.#loadAccounts();
    else this.#known.add(managed);
    this.#clock = clockAt(now);
    this.#undecidedAfter = undecided.length === UNDECIDED_PER_RUN ? (undecided.at(-1) ?? "") : "";
    // An undecided deal is decided soon: then every run asks.
    this.#readAtMs = undecided.length > 0 ? -Infinity : performance.now() + NEWS_EVERY_MS;
    return undecided;
  }

  async #loadAccounts(): Promise<void> {
    for (let after = ""; ;) {
      const page = await listManaged(this.#pool, after, ACCOUNTS_PER_PAGE);
      this.#known.add(page);
      const last = page.at(-1);
      if (last === undefined || page.length < ACCOUNTS_PER_PAGE) return;
      after = last.login;
    }
  }
}

function clockAt(now: Date): { readonly ms: number; readonly atMs: number } {
  return { ms: now.getTime(), atMs: performance.now() };
}
