import type { Deps } from "../deps.ts";
import { MINUTE_MS } from "#kernel/values/duration.ts";
import { isExactMask } from "../mt5/groups.ts";
import type { KnownAccount, KnownAccounts, KnownGroup } from "./news.ts";

/** How the accounts are read in one run. */
export type Plan = {
  readonly groups: readonly GroupToRead[];
  /** Accounts that are read by their logins. */
  readonly logins: readonly string[];
  /** Accounts that have just left their group: they are read by their logins from the instant since when they may be gone. */
  readonly moved: { readonly logins: readonly string[]; readonly from: Date } | undefined;
};

export type GroupToRead = KnownGroup & {
  /** Accounts that the platform does not show in the group; they are read by their logins. */
  readonly absent: ReadonlySet<string>;
};

/** A broker moves accounts to other groups now and then. A list of 100,000 logins has about a megabyte. */
const LIST_EVERY_MS = 10 * MINUTE_MS;
/** Older lists are not used: until there is a new one, accounts are read by their logins. */
const OLDEST_MS = 2 * LIST_EVERY_MS;
/** A setting of the server or a right of the manager changes rarely; reading by login costs a request for 100 accounts. */
const REFUSED_FOR_MS = 5 * MINUTE_MS;
/** A new account is in its group, also when the list was made while it was created. */
const NEW_FOR_MS = MINUTE_MS;

/** What remains of a list: the logins themselves may be a million. */
type Listed = {
  readonly count: number;
  readonly at: Date;
  readonly againAtMs: number;
  readonly absent: ReadonlySet<string>;
};

/**
 * Decides which accounts are read by their group. The platform lists the logins of each group, which is one request in ten
 * minutes, and shows both whether most accounts of the group are managed here, and which accounts were moved away.
 */
export class ReadingPlan {
  readonly #deps: Deps;
  readonly #listed = new Map<string, Listed>();
  readonly #refusedUntilMs = new Map<string, number>();
  /** Accounts that left their group and were not read since, with the instant since when they may be gone. */
  readonly #moved = new Map<string, Date>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** `readTo` is the instant up to which all accounts have been read. */
  async make(known: KnownAccounts, { now, readTo }: { readonly now: Date; readonly readTo: Date }): Promise<Plan> {
    const groups: GroupToRead[] = [];
    const logins: string[] = [];
    for (const group of known.groups()) {
      const { name, accounts } = group;
      const listed = await this.#list(group, { now, readTo });
      // Rows of foreign accounts would be most of each answer.
      if (listed === undefined || listed.count > 2 * accounts.length) {
        for (const { login } of accounts) if (!this.#moved.has(login)) logins.push(login);
      } else {
        for (const login of listed.absent) if (known.has(login) && !this.#moved.has(login)) logins.push(login);
        groups.push({ name, accounts, absent: listed.absent });
      }
    }
    return { groups, logins, moved: this.#readMoved() };
  }

  /** The accounts are not shown at all, and are not read. */
  forget(logins: readonly string[]): void {
    for (const login of logins) this.#moved.delete(login);
  }

  /** The accounts of the plan were read completely. */
  noteRead({ moved }: Plan): void {
    for (const login of moved?.logins ?? []) this.#moved.delete(login);
  }

  #readMoved(): Plan["moved"] {
    if (this.#moved.size === 0) return undefined;
    const firstMs = [...this.#moved.values()].reduce((first, at) => Math.min(first, at.getTime()), Infinity);
    return { logins: [...this.#moved.keys()], from: new Date(firstMs) };
  }

  /** The accounts of the group are read by their logins for some minutes. */
  refuse(group: string, reason: string): void {
    if (!this.#refusedUntilMs.has(group)) {
      this.#deps.log.warn("group cannot be read as a whole, its accounts are read by login", { group, reason });
    }
    this.#refusedUntilMs.set(group, performance.now() + REFUSED_FOR_MS);
  }

  /** The group was read as a whole: the next refusal is logged again. */
  accept(group: string): void {
    this.#refusedUntilMs.delete(group);
  }

  /** Undefined when the group cannot be read as a whole. */
  async #list(
    { name, accounts }: KnownGroup,
    at: { readonly now: Date; readonly readTo: Date },
  ): Promise<Listed | undefined> {
    if (!isExactMask(name) || (this.#refusedUntilMs.get(name) ?? 0) > performance.now()) return undefined;
    const last = this.#listed.get(name);
    if (last !== undefined && performance.now() < last.againAtMs) return last;
    const logins = await this.#deps.mt5.listGroupLogins(name).catch((error: unknown) => {
      this.#deps.log.info("logins of a group not listed, retry scheduled", { group: name, error });
      return "failed" as const;
    });
    // The next run tries again; until then an old list still shows most of what it is for.
    if (logins === "failed") return isUsable(last) ? last : undefined;
    if (logins === undefined) {
      this.refuse(name, "the platform does not list its logins");
      return undefined;
    }
    const present = new Set(logins);
    const absent = new Set(listAbsent(accounts, present, at.now));
    const moved = [...absent].filter((login) => last?.absent.has(login) !== true);
    this.#noteMoved(name, moved, last?.at ?? new Date(at.readTo.getTime() - LIST_EVERY_MS));
    const listed = { count: present.size, at: at.now, againAtMs: performance.now() + LIST_EVERY_MS, absent };
    this.#listed.set(name, listed);
    return listed;
  }

  /** An account that was moved away since the last list is read from there on, so that its log has all deals in order. */
  #noteMoved(group: string, logins: readonly string[], since: Date): void {
    for (const login of logins) this.#moved.set(login, new Date(since.getTime() - NEW_FOR_MS));
    if (logins.length === 0) return;
    const fields = { group, count: logins.length };
    this.#deps.log.warn("accounts are not in their group any more, they are read by login", fields);
  }
}

function listAbsent(accounts: readonly KnownAccount[], listed: ReadonlySet<string>, at: Date): string[] {
  const newFromMs = at.getTime() - NEW_FOR_MS;
  return accounts.flatMap(({ login, managedAtMs }) => (listed.has(login) || managedAtMs >= newFromMs ? [] : [login]));
}

function isUsable(last: Listed | undefined): boolean {
  return last !== undefined && performance.now() < last.againAtMs - LIST_EVERY_MS + OLDEST_MS;
}
