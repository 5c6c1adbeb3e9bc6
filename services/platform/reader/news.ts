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
export type News = Awaited<ReturnType<typeof startNews>>["news"];

/** Loads all accounts. Also returns the instant up to which an earlier reader has read. */
export async function startNews({ pool, role, known }: NewsOptions) {
  const { now: startedAt, readTo } = await findReadTo(pool);
  let clock = clockAt(startedAt);
  let readAtMs = -Infinity;
  let undecidedAfter = "";
  const loadAccounts = async (): Promise<void> => {
    for (let after = ""; ;) {
      const page = await listManaged(pool, after, ACCOUNTS_PER_PAGE);
      known.add(page);
      const last = page.at(-1);
      if (last === undefined || page.length < ACCOUNTS_PER_PAGE) return;
      after = last.login;
    }
  };
  await loadAccounts();
  const news = {
    /** The database's clock, a little late: what happens now is read again rather than missed. */
    nowMs: (): number => Math.floor(clock.ms + performance.now() - clock.atMs),
    /** Learns of new accounts and of those that are not shown, and renews the lease with the same statement. Returns logins with an undecided deal; none when it was asked for just before. */
    read: async (): Promise<readonly string[]> => {
      if (performance.now() < readAtMs) return [];
      const { now, managed, unshown, undecided } = await role.renewWithin((renewed) =>
        readNews(pool, {
          renewed,
          since: new Date(clock.ms - COMMITTED_WITHIN_MS),
          maxManaged: ACCOUNTS_PER_PAGE,
          undecidedAfter,
          maxUndecided: UNDECIDED_PER_RUN,
        }),
      );
      known.remove(unshown);
      if (managed.length >= ACCOUNTS_PER_PAGE) await loadAccounts();
      else known.add(managed);
      clock = clockAt(now);
      undecidedAfter = undecided.length === UNDECIDED_PER_RUN ? (undecided.at(-1) ?? "") : "";
      // An undecided deal is decided soon: then every run asks.
      readAtMs = undecided.length > 0 ? -Infinity : performance.now() + NEWS_EVERY_MS;
      return undecided;
    },
  };
  return { news, readTo };
}

function clockAt(now: Date): { readonly ms: number; readonly atMs: number } {
  return { ms: now.getTime(), atMs: performance.now() };
}
