import type { Entry, Funds } from "./funds.ts";
import type { Json } from "./exact-json.ts";
import type { Outcome } from "./outcome.ts";
import type { Deal } from "./platform.ts";
import type { Printer } from "./printer.ts";

type FakeState = {
  readonly deals?: () => readonly Deal[];
  readonly positions?: () => readonly string[];
  readonly balances?: Readonly<Record<string, bigint>>;
  readonly entries?: readonly Entry[];
  readonly read?: (path: string) => Json;
  /** The outcomes of the trader's commands, in order. */
  readonly outcomes?: readonly Outcome[];
};

export type TestFunds = Funds & { readonly notes: string[]; readonly sent: () => number };

export const DONE: Outcome = { kind: "done", answer: { status: 200, retryAfterMs: undefined, text: "", body: {} } };

/** A service and a platform as plain objects. */
export function testFunds({ outcomes = [], read, ...state }: FakeState): TestFunds {
  const notes: string[] = [];
  let sent = 0;
  const quiet = (): void => {};
  const print: Printer = { title: quiet, step: quiet, request: quiet, result: quiet, note: (text) => notes.push(text) };
  return {
    notes,
    sent: () => sent,
    print,
    api: { read: async (path) => read?.(path) ?? null, send: () => Promise.reject(new Error("nothing is sent")) },
    ledger: { runId: "x", entries: [...(state.entries ?? [])] },
    platform: {
      deals: async () => state.deals?.() ?? [],
      positions: async () => state.positions?.() ?? [],
      balance: async (login) => state.balances?.[login] ?? 0n,
      send: async () => outcomes[sent++] ?? DONE,
    },
  };
}

export function aTrade(minor: bigint, timeMs = 0): Deal {
  return { ticket: "1", comment: "", minor, isTrade: true, timeMs };
}
