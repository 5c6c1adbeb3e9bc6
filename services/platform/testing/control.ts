import assert from "node:assert/strict";

export type ControlDeal = {
  readonly deal: number;
  readonly time_msc: number;
  readonly action: number;
  readonly profit: string;
  readonly comment: string;
  readonly position: number;
};

type Costs = { readonly swap?: string; readonly commission?: string };

/** The simulator's control API: actions of traders, dealers and faulty networks. */
export type Control = ReturnType<typeof controlOf>;

export function controlOf(url: string) {
  const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
    const response = await fetch(`${url}/control/${path}`, {
      ...init,
      headers: body === undefined ? {} : { "content-type": "application/json" },
    });
    const text = await response.text();
    assert(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    addAccount: async (account: { login?: number; group: string; name: string; balance?: string }) => {
      const { login } = (await call("POST", "accounts", account)) as { login: number };
      return String(login);
    },
    archive: (login: string) => call("POST", `accounts/${login}/archive`),
    restore: (login: string) => call("POST", `accounts/${login}/restore`),
    /** For good, with its deals. */
    remove: (login: string) => call("DELETE", `accounts/${login}`),
    move: (login: string, group: string) => call("POST", `accounts/${login}/group`, { group }),
    group: (group: string, currency: string, digits: number) => call("POST", "groups", { group, currency, digits }),
    /** The manager sees the accounts of these groups only. */
    managerGroups: (groups: string) => call("POST", "manager", { groups }),
    account: (login: string) =>
      call("GET", `accounts/${login}`) as Promise<{
        name: string;
        balance: string;
        rights: number;
        positions: unknown[];
      }>,
    /** A dealer sets all rights of the account. */
    setRights: (login: string, rights: number) => call("POST", `accounts/${login}/rights`, { rights }),
    /** Sets the balance to the sum of the deals. */
    fix: (login: string) => call("POST", `accounts/${login}/fix`, {}) as Promise<{ balance: string }>,
    deals: (login: string) => call("GET", `accounts/${login}/deals`) as Promise<ControlDeal[]>,
    balance: (login: string, amount: string, comment = "dealer") =>
      call("POST", "balance", { login: Number(login), amount, comment }) as Promise<{ deal: number }>,
    result: (login: string, profit: string, costs: Costs = {}) =>
      call("POST", "results", { login: Number(login), profit, ...costs }) as Promise<{ deal: number }>,
    /** `time_msc`: of the server's wall clock, without it now. */
    price: (price: string, own: { time_msc?: number } = {}) =>
      call("POST", "prices", { symbol: "EURUSD", bid: price, ask: price, ...own }),
    session: (open: boolean) => call("POST", "sessions", { symbol: "EURUSD", open }),
    open: (login: string, volume: string, own: { side?: "buy" | "sell"; commission?: string } = {}) =>
      call("POST", "positions", { login: Number(login), symbol: "EURUSD", side: "buy", volume, ...own }) as Promise<{
        position: number;
        deal: number;
      }>,
    close: (position: number, own: Costs & { volume?: string } = {}) =>
      call("POST", `positions/${position}/close`, own) as Promise<{ deal: number; profit: string }>,
    closeBy: (position: number, by: number, costs: Costs = {}) =>
      call("POST", `positions/${position}/close-by`, { by, ...costs }) as Promise<{ deals: number[]; profit: string }>,
    reverse: (position: number, volume: string, costs: Costs = {}) =>
      call("POST", `positions/${position}/reverse`, { volume, ...costs }) as Promise<{ deal: number; profit: string }>,
    /** Books any deal that is not a trade: charges, credits, dividends. */
    book: (login: string, action: number, amount: string, comment = "") =>
      call("POST", "deals", { login: Number(login), action, amount, comment }) as Promise<{ deal: number }>,
    editDeal: (deal: number, own: Costs & { profit?: string; comment?: string }) =>
      call("POST", `deals/${deal}/edit`, own),
    cancelDeal: (deal: number) => call("POST", `deals/${deal}/cancel`),
    removeDeal: (deal: number) => call("DELETE", `deals/${deal}`),
    fault: (fault: {
      command: string;
      parameter?: string;
      effect: string;
      times?: number;
      after?: number;
      delay_ms?: number;
    }) => call("POST", "faults", fault),
    noFaults: () => call("DELETE", "faults"),
    /** No fault waits any more, and what faults have started ends before its delay is over. */
    endFaults: () => call("POST", "faults/end"),
    restart: (forgetMs?: number) => call("POST", "restart", forgetMs === undefined ? {} : { forget_ms: forgetMs }),
    stats: () => call("GET", "stats") as Promise<{ calls: Record<string, number> }>,
  };
}
