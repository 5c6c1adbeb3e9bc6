import assert from "node:assert/strict";

export type ControlDeal = {
  readonly deal: number;
  readonly time_msc: number;
  readonly action: number;
  readonly profit: string;
  readonly comment: string;
  readonly position: number;
};

/** The simulator's own remote control: what traders, dealers and broken networks do. */
export type Control = ReturnType<typeof controlOf>;

export function controlOf(url: string) {
  const ask = async (method: string, path: string, body?: unknown): Promise<unknown> => {
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
      const { login } = (await ask("POST", "accounts", account)) as { login: number };
      return String(login);
    },
    account: (login: string) => ask("GET", `accounts/${login}`) as Promise<{ balance: string; positions: unknown[] }>,
    deals: (login: string) => ask("GET", `accounts/${login}/deals`) as Promise<ControlDeal[]>,
    balance: (login: string, amount: string, comment = "dealer") =>
      ask("POST", "balance", { login: Number(login), amount, comment }) as Promise<{ deal: number }>,
    result: (login: string, profit: string) =>
      ask("POST", "results", { login: Number(login), profit }) as Promise<{ deal: number }>,
    open: (login: string, volume: string) =>
      ask("POST", "positions", { login: Number(login), symbol: "EURUSD", side: "buy", volume }) as Promise<{
        position: number;
        deal: number;
      }>,
    close: (position: number) =>
      ask("POST", `positions/${position}/close`, {}) as Promise<{ deal: number; profit: string }>,
    fault: (fault: { command: string; effect: string; times?: number; after?: number; delay_ms?: number }) =>
      ask("POST", "faults", fault),
    noFaults: () => ask("DELETE", "faults"),
    restart: (forgetMs?: number) => ask("POST", "restart", forgetMs === undefined ? {} : { forget_ms: forgetMs }),
    stats: () => ask("GET", "stats") as Promise<{ calls: Record<string, number> }>,
  };
}
