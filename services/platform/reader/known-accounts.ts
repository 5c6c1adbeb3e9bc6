import type { ManagedAccount } from "../store/accounts.ts";

/** A managed account in memory, of which there may be a million. */
export type KnownAccount = {
  readonly login: string;
  readonly group: string;
  readonly managedAtMs: number;
};

export type KnownGroup = {
  /** One text for all its accounts. */
  readonly name: string;
  readonly accounts: readonly KnownAccount[];
};

type Group = KnownGroup & { readonly accounts: KnownAccount[]; hasMaster: boolean };

/** The managed accounts in memory: the reader drops deals of other accounts before it asks the database about them. */
export class KnownAccounts {
  readonly #byLogin = new Map<string, KnownAccount>();
  readonly #groups = new Map<string, Group>();

  get size(): number {
    return this.#byLogin.size;
  }

  /** Accounts stay under management and keep their recorded group. */
  add(accounts: readonly ManagedAccount[]): void {
    for (const { login, role, group: name, managedAt } of accounts) {
      if (this.#byLogin.has(login)) continue;
      const group = this.#groups.get(name) ?? { name, accounts: [], hasMaster: false };
      this.#groups.set(name, group);
      const account = { login, group: group.name, managedAtMs: managedAt.getTime() };
      this.#byLogin.set(login, account);
      group.accounts.push(account);
      group.hasMaster ||= role === "master";
    }
  }

  has(login: string): boolean {
    return this.#byLogin.has(login);
  }

  groupOf(login: string): string | undefined {
    return this.#byLogin.get(login)?.group;
  }

  /** Groups with Masters are first, because trades are read from there. */
  groups(): readonly KnownGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => Number(b.hasMaster) - Number(a.hasMaster));
  }
}
