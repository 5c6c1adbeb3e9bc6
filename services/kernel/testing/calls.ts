import { FeedServiceService, ReadRequest } from "#proto/pamm/common/v1/feed.ts";
import { createLog } from "../process/log.ts";
import { Refusal } from "../values/refusal.ts";
import { type CallFacts, callContext } from "../contract/context.ts";
import type { CallContext, Implementation } from "../contract/contract.ts";

/** A contract of the kernel, as an example of all contracts. */
export const contract = FeedServiceService;
export type Read = Implementation<typeof FeedServiceService>["read"];

export const silent = createLog({ service: "test", level: "silent" });
export const COMMAND_ID = "01978f3c-0000-7000-8000-000000000001";
export const request = { feed: "test.things", afterNumber: 9_007_199_254_740_993n, afterId: 1n, limit: 10 };
export const encoded = ReadRequest.encode(request).finish();

/** Answers with the number of the request. */
export const answer: Read = async ({ afterNumber }) => ({ entries: [], lastNumber: afterNumber });

export function call(facts: Partial<CallFacts> = {}): CallContext {
  return callContext({ caller: "test", withinMs: 2_000, ...facts });
}

/** A refusal with every member. */
export function fullRefusal(): Refusal {
  return new Refusal({
    code: "account_busy",
    status: "conflict",
    message: "the account is büsy",
    details: { login: "7" },
    errors: [{ field: "login", code: "busy", message: "is busy" }],
    outcome: "not_executed",
    operationId: "op-1",
    retryAfterMs: 250,
  });
}

/** A handler that reports when it has begun and answers when it is released. */
export function heldHandler(): { read: Read; began: Promise<void>; release: () => void } {
  const began = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const read: Read = async (message, context) => {
    began.resolve();
    await released.promise;
    return await answer(message, context);
  };
  return { read, began: began.promise, release: released.resolve };
}

/** A handler that reports the abort of its signal and answers only when it is released, always after the time-out of the caller. */
export function handlerUntilAborted(): {
  read: Read;
  began: Promise<void>;
  aborted: Promise<void>;
  release: () => void;
} {
  const { read: held, began, release } = heldHandler();
  const aborted = Promise.withResolvers<void>();
  const read: Read = async (message, context) => {
    context.signal.addEventListener("abort", () => aborted.resolve());
    return await held(message, context);
  };
  return { read, began, aborted: aborted.promise, release };
}

export async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refusal) return error;
  throw new Error("was not refused", { cause: error });
}
