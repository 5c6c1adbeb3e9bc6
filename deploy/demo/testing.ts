import type { Entry, Funds } from "./funds.ts";
import type { Json } from "./exact-json.ts";
import type { Printer } from "./printer.ts";

type FakeState = {
  readonly entries?: readonly Entry[];
  readonly read?: (path: string) => Json;
};

export type TestFunds = Funds & { readonly notes: string[] };

/** A service and a platform as plain objects. */
export function testFunds({ read, entries = [] }: FakeState): TestFunds {
  const notes: string[] = [];
  const quiet = (): void => {};
  const print: Printer = { title: quiet, step: quiet, request: quiet, result: quiet, note: (text) => notes.push(text) };
  return {
    notes,
    print,
    api: { read: async (path) => read?.(path) ?? null, send: () => Promise.reject(new Error("nothing is sent")) },
    ledger: { runId: "x", entries: [...entries] },
    platform: {
      deals: async () => [],
      positions: async () => [],
      balance: async () => 0n,
      send: () => Promise.reject(new Error("nothing is sent")),
    },
  };
}
