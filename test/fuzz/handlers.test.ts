import { AssertionError } from "node:assert";
import fc from "fast-check";
import { expect, test } from "vitest";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal } from "#kernel/refusal.ts";
import { testDatabase } from "#test/support/database.ts";
import { rpcsOf } from "./messages/contracts.ts";
import { REAL_SERVICES } from "./messages/handlers.ts";
import { FUZZ_TIMEOUT_MS, fuzzAsync, report } from "./support/fuzz.ts";

const RUNS = 120;
const CALL_MS = 600;
const COMMAND = "0199f3a2-7c1e-7000-8000-000000000001";
/** The payload cannot be decoded, so no handler receives it. */
const UNREADABLE = "not a message";

test.each(REAL_SERVICES)(
  "any message to $label is answered or refused without an internal error",
  async ({ name, label, contract, implement }) => {
    await using database = await testDatabase(name);
    const implementation = await implement(database.pool);
    let faults = 0;
    const calls = fc
      .constantFrom(...rpcsOf(contract))
      .chain(({ method, request }) =>
        fc.record({ method: fc.constant(method), payload: request, isCommand: fc.boolean() }),
      );
    await fuzzAsync(`messages to ${label}`, RUNS, calls, async ({ method, payload, isCommand }) => {
      const request = decoded(() => method.decodeRequest(payload));
      if (request === UNREADABLE) return;
      const handler = implementation[method.name] as (request: unknown, context: CallContext) => Promise<unknown>;
      const commandId = isCommand ? COMMAND : "";
      const context = callContext({ caller: "fuzz", withinMs: CALL_MS, commandId });
      const answer = await handler(request, context).catch((error: unknown) => error);
      if (answer instanceof Error && !(answer instanceof Refusal)) {
        if (!isExpectedFault(answer)) throw new Error(`${method.path} ${show(request)}`, { cause: answer });
        faults += 1;
      }
      if (!(answer instanceof Error)) expect(method.encodeResponse(answer)).toBeInstanceOf(Uint8Array);
    });
    report(`messages to ${label} that failed in an assertion or a database constraint`, faults);
  },
  FUZZ_TIMEOUT_MS,
);

/**
 * A message outside the contract may end as a fault in an assertion or a database constraint: nothing is executed, and the
 * caller receives an internal error.
 */
function isExpectedFault(error: Error): boolean {
  const ofDatabase = "code" in error && /^(22|23)[0-9A-Z]{3}$/.test(String(error.code));
  return error instanceof AssertionError || ofDatabase;
}

function decoded(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return UNREADABLE;
  }
}

function show(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) => (typeof part === "bigint" ? `${part}n` : part));
}
