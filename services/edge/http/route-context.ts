import assert from "node:assert/strict";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Audit } from "../identity/audit/audit.ts";
import { voteEntry } from "../identity/audit/vote-entry.ts";
import { writeDurably } from "../identity/audit/write-durably.ts";
import type { IdempotencyStore } from "./idempotency/idempotency-store.ts";
import { sentKeyOf } from "./idempotency/sent-key.ts";
import type { Caller } from "../identity/keys/auth.ts";
import { messageOf } from "../fields/message.ts";
import { isCommand } from "./request-state.ts";
import type { Route, RouteContext } from "./route.ts";
import { deadlineOf } from "./time-limit.ts";
import type { Poll, LongPoll } from "./long-poll.ts";

export type Input = { params: never; query: never; body: never; request: never };

export function inputOf(route: Route, { params, query, body }: FastifyRequest): Input {
  const parts = { params, query, body } as Readonly<Record<"params" | "query" | "body", object>>;
  const input = {
    ...parts,
    get request() {
      const messages = PARTS.map((part) => messageOf(route[part]?.properties ?? {}, parts[part]));
      return Object.assign({}, ...messages) as object;
    },
  };
  // The schemas have validated these types.
  return input as Input;
}

const PARTS = ["params", "query", "body"] as const;

/** The clients of the services end each call at its deadline by themselves, and a caller that leaves cancels nothing. */
const NEVER_ABORTED = new AbortController().signal;

export function contextOf(route: Route, request: FastifyRequest, since: number): CallContext {
  const deadline = deadlineOf(route.class, since);
  return {
    requestId: request.id,
    commandId: isCommand(route) ? (request.edge.operationId ?? "") : "",
    caller: "edge",
    deadline,
    signal: NEVER_ABORTED,
  };
}

type ContextRuntime = { readonly audit: Audit; readonly longPoll: LongPoll; readonly idempotency: IdempotencyStore };

export function routeContextOf(
  route: Route,
  { audit, longPoll, idempotency }: ContextRuntime,
  request: FastifyRequest,
  reply: FastifyReply,
): RouteContext {
  const { receivedAt } = request.edge;
  const caller = callerOf(request);
  return {
    ...contextOf(route, request, receivedAt),
    client: {
      id: caller.clientId,
      owner: caller.client,
      keyId: caller.keyId,
      rejectsDuplicates: caller.rejectsDuplicates,
    },
    key: caller,
    idempotencyKey: isCommand(route) ? sentKeyOf(request, idempotency.keptMs) : undefined,
    auditVote: (vote) => writeDurably(audit, voteEntry(request, vote)),
    reportOperation: (operationId) => reportOperation(operationId, request, reply),
    setHeader: (name, value) => void reply.header(name, value),
    poll: pollOf(route, longPoll, request, reply),
  };
}

export function callerOf({ edge: { caller } }: FastifyRequest): Caller {
  assert(caller !== undefined, "a request is handled after it was admitted");
  return caller;
}

function reportOperation(operationId: string, request: FastifyRequest, reply: FastifyReply): void {
  if (operationId === request.edge.operationId) return;
  request.edge.operationId = operationId;
  reply.header("x-operation-id", operationId).header("idempotency-replayed", "true");
}

export function pollOf(route: Route, longPoll: LongPoll, request: FastifyRequest, reply: FastifyReply): Poll {
  return longPoll.open({
    clientId: callerOf(request).clientId,
    seconds: waitMs(route, request) / 1_000,
    receivedAt: request.edge.receivedAt,
    hasLeft: () => reply.raw.destroyed,
    contextOfRead: () => contextOf(route, request, Date.now()),
  });
}

/** How much longer the answer may take, because the caller has asked to wait. */
export function waitMs({ query }: Route, request: FastifyRequest): number {
  if (query === undefined || !Object.hasOwn(query.properties, "wait")) return 0;
  const { wait = "0" } = request.query as { readonly wait?: string };
  return Number(wait) * 1_000;
}
