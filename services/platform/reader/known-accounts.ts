import type { ManagedAccount } from "../store/accounts.ts";

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
