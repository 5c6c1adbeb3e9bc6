import type { Entry } from "./book.ts";
import type { Json } from "./exact-json.ts";
import type { Funds } from "./funds.ts";
import type { Outcome } from "./outcome.ts";
import type { Deal } from "./platform.ts";
import type { Narrator } from "./terminal.ts";

type World = {
  readonly deals?: () => readonly Deal[];
  readonly positions?: () => readonly string[];
  readonly balances?: Readonly<Record<string, bigint>>;
  readonly entries?: readonly Entry[];
  readonly read?: (path: string) => Json;
  /** What the trader's commands come to, one after the other. */
  readonly outcomes?: readonly Outcome[];
};

export type TestFunds = Funds & { readonly notes: string[]; readonly sent: () => number };

export const DONE: Outcome = { kind: "done", answer: { status: 200, retryAfterMs: undefined, text: "", body: {} } };

/** The service and the platform of a test, as plain objects. */
export function testFunds({ outcomes = [], read, ...world }: World): TestFunds {
  const notes: string[] = [];
  let sent = 0;
  const quiet = (): void => {};
  const tell: Narrator = { title: quiet, step: quiet, request: quiet, result: quiet, note: (text) => notes.push(text) };
  return {
    notes,
    sent: () => sent,
    tell,
    api: { read: async (path) => read?.(path) ?? null, send: () => Promise.reject(new Error("nothing is sent")) },
    book: { runId: "x", entries: [...(world.entries ?? [])] },
    platform: {
      deals: async () => world.deals?.() ?? [],
      positions: async () => world.positions?.() ?? [],
      balance: async (login) => world.balances?.[login] ?? 0n,
      send: async () => outcomes[sent++] ?? DONE,
    },
  };
}

export function aTrade(minor: bigint, timeMs = 0): Deal {
  return { ticket: "1", comment: "", minor, isTrade: true, timeMs };
}
