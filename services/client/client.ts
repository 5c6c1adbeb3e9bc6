import { type Deadline, deadlineIn } from "./deadline.ts";
import type { NoAnswerError, ProblemError } from "./errors.ts";
import { prepare, type Parts } from "./request.ts";
import { runCommand } from "./run-command.ts";
import { runQuery } from "./run-query.ts";
import { type ClientOptions, createTransport } from "./transport.ts";
import type { Answer, Arguments, CommandId, Item, Models, PagedId, ProblemOf, QueryId } from "./types.ts";

export type QueryOptions = {
  readonly signal?: AbortSignal;
  /** In place of the time of the client. */
  readonly timeoutMs?: number;
};

export type CommandOptions = QueryOptions & {
  /** Store one of your own with your order before the call; a random one is made when it is missing. */
  readonly idempotencyKey?: string;
};

/** What is known about a command. `idempotencyKey` repeats it. */
export type CommandResult<Id extends CommandId> = { readonly idempotencyKey: string } & (
  | {
      /** `accepted`: it is recorded and will be executed later. */
      readonly outcome: "executed" | "accepted";
      readonly answer: Answer<Id>;
      readonly headers: Headers;
    }
  | {
      /** Nothing was executed, and nothing will be. */
      readonly outcome: "not_executed";
      /** Why; undefined when the operation says it, or when no connection could be opened and the key is new. */
      readonly problem: ProblemOf<Id> | undefined;
      readonly operation: Models["Operation"] | undefined;
    }
  | {
      /** It may have been executed. The same command with the same key again finds out, also much later. */
      readonly outcome: "unknown";
      readonly error: ProblemError | NoAnswerError;
      readonly operation: Models["Operation"] | undefined;
    }
);

export type Client = {
  /** Reads. Repeats what may succeed later; throws a `ProblemError` or `NoAnswerError`. */
  readonly query: <Id extends QueryId>(id: Id, ...rest: Arguments<Id, QueryOptions>) => Promise<Answer<Id>>;
  /** The items of all pages, read one page at a time. */
  readonly items: <Id extends PagedId>(id: Id, ...rest: Arguments<Id, QueryOptions>) => AsyncGenerator<Item<Id>>;
  /** Changes something, once, whatever happens on the way. Its outcome is returned; it throws only when nothing was sent. */
  readonly command: <Id extends CommandId>(
    id: Id,
    ...rest: Arguments<Id, CommandOptions>
  ) => Promise<CommandResult<Id>>;
};

const TIMEOUT_MS = 60_000;

export function createClient(options: ClientOptions): Client {
  const send = createTransport(options);
  const within = async <T>({ signal, timeoutMs }: QueryOptions, work: (deadline: Deadline) => Promise<T>) => {
    signal?.throwIfAborted();
    const deadline = deadlineIn(timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS, signal);
    try {
      return await work(deadline);
    } finally {
      deadline.end();
    }
  };
  const query = async <Id extends QueryId>(id: Id, ...rest: Arguments<Id, QueryOptions>): Promise<Answer<Id>> => {
    const [input = {}, own = {}] = rest as [Parts?, QueryOptions?];
    const request = prepare(id, input);
    return (await within(own, (deadline) => runQuery(send, request, deadline))) as Answer<Id>;
  };
  return {
    query,
    async *items<Id extends PagedId>(id: Id, ...rest: Arguments<Id, QueryOptions>): AsyncGenerator<Item<Id>> {
      const [input = {}, own = {}] = rest as [Parts?, QueryOptions?];
      const place = PLACES[id] ?? "cursor";
      for (let cursor: unknown = input.query?.[place]; ;) {
        const request = prepare(id, { ...input, query: { ...input.query, [place]: cursor } });
        const page = (await within(own, (deadline) => runQuery(send, request, deadline))) as Page<Item<Id>>;
        yield* page.items;
        if (!page.has_more) return;
        if (page.next_cursor === cursor) throw new Error(`${id} returned the same cursor again`);
        cursor = page.next_cursor;
      }
    },
    async command(id, ...rest) {
      const [input = {}, { idempotencyKey: given, ...own } = {}] = rest as [Parts?, CommandOptions?];
      const idempotencyKey = given ?? newKey();
      const request = prepare(id, input, { "idempotency-key": idempotencyKey });
      // A key of the caller may have been sent before: by a call that was given up, or by a process that has ended.
      const wasOpen = given !== undefined;
      const outcome = await within(own, (deadline) => runCommand(send, request, deadline, wasOpen));
      return { idempotencyKey, ...outcome } as CommandResult<typeof id>;
    },
  };
}

/** `randomUUID` is missing where a page came over plain HTTP from another machine. */
function newKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The parameter that takes the cursor, where it has another name: events are read on after an event. */
const PLACES: Partial<Record<PagedId, string>> = { listEvents: "after" };

type Page<One> = { readonly items: readonly One[]; readonly has_more: boolean; readonly next_cursor: unknown };
