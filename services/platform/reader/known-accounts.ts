import type { ManagedAccount } from "../store/accounts.ts";

/** The managed accounts in memory: the reader drops deals of other accounts before it asks the database about them. */
export class KnownAccounts {
  readonly #byLogin = new Map<string, ManagedAccount>();
  readonly #byGroup = new Map<string, ManagedAccount[]>();

  get size(): number {
    return this.#byLogin.size;
  }

  /** Accounts stay under management and keep their recorded group. */
  add(accounts: readonly ManagedAccount[]): void {
    for (const account of accounts) {
      if (this.#byLogin.has(account.login)) continue;
      this.#byLogin.set(account.login, account);
      const group = this.#byGroup.get(account.group);
      if (group === undefined) this.#byGroup.set(account.group, [account]);
      else group.push(account);
    }
  }

  has(login: string): boolean {
    return this.#byLogin.has(login);
  }

  groupOf(login: string): string | undefined {
    return this.#byLogin.get(login)?.group;
  }

  /** The accounts of each group; groups with Masters are first, because trades are read from there. */
  groups(): readonly (readonly [name: string, accounts: readonly ManagedAccount[]])[] {
    const hasMaster = ([, accounts]: readonly [string, readonly ManagedAccount[]]) =>
      accounts.some(({ role }) => role === "master");
    return [...this.#byGroup].toSorted((a, b) => Number(hasMaster(b)) - Number(hasMaster(a)));
  }
}
