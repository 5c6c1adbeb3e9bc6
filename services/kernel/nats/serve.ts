import { ErrorCode, headers, type NatsError, type ServiceMsg } from "nats";
import { type Contract, type Implementation, type Method, methodsOf, type Permissions } from "../contract/contract.ts";
import { type Answer, createDispatcher, type Dispatcher } from "../contract/dispatch.ts";
import { encodeRefusal } from "../contract/error.ts";
import { HEADER } from "../contract/headers.ts";
import { MAX_CONCURRENT_REQUESTS } from "../contract/limit.ts";
import { BROKER_CALLER } from "#catalogue/services.ts";
import { refuse } from "../contract/refusals.ts";
import { endOfTurn } from "../jobs/end-of-turn.ts";
import type { Log } from "../process/log.ts";
import { countRefusedCall } from "../process/metrics.ts";
import type { Refusal } from "../values/refusal.ts";
import type { Broker } from "./connect.ts";
import { subjectPrefix } from "./subject.ts";

export type NatsServeOptions<C extends Contract> = {
  /** Name of the subjects, the queue group and the entry in the service directory of the broker. */
  readonly service: string;
  readonly contract: C;
  readonly implementation: Implementation<C>;
  readonly permissions: Permissions<C>;
  readonly log: Log;
  /** Once it is aborted, the broker sends new calls to other replicas; those that it has sent are answered. */
  readonly draining?: AbortSignal;
  /** Calls in progress, for commands and for queries each. */
  readonly maxConcurrent?: number;
};

export type NatsServer = AsyncDisposable & {
  /** Rejects when the broker has ended the subscriptions. */
  readonly stopped: Promise<void>;
};

/** Version of the contract, for the service directory. */
const CONTRACT_VERSION = "1.0.0";
/** Where a client waits for its answer. */
const INBOX = "_INBOX.";

/**
 * The caller of a call has given up at its deadline, and the broker lets no service answer 35 s after it has delivered a call. A process that stood still, such as that of a
 * virtual machine that is moved, would answer calls of before; the broker would refuse it, which alerts as an intrusion. The time is for clocks that differ.
 */
const GIVEN_UP_AFTER_MS = 5_000;

/** Answers `pamm.v1.<service>.<Method>` in a queue group, and `$SRV.PING|INFO|STATS` for operators. */
export async function serveOverNats<C extends Contract>(
  { connection }: Broker,
  {
    service: name,
    contract,
    implementation,
    permissions,
    log,
    draining,
    maxConcurrent = MAX_CONCURRENT_REQUESTS,
  }: NatsServeOptions<C>,
): Promise<NatsServer> {
  const dispatcher = createDispatcher({ transport: "nats", implementation, permissions, log, maxConcurrent });
  const service = await connection.services.add({ name, version: CONTRACT_VERSION, queue: name });
  const group = service.addGroup(subjectPrefix(name), name);
  for (const method of methodsOf(contract)) {
    group.addEndpoint(method.rpc, { handler: (_error, message) => void handle(dispatcher, log, method, message) });
  }
  await connection.flush();

  let isStopping = false;
  const stopped = service.stopped.then((error) => {
    if (!isStopping) throw error ?? new Error(`${name} has lost its subscriptions`);
  });
  stopped.catch(() => {});
  const leave = (): void => {
    isStopping = true;
    void service.stop();
  };
  if (draining?.aborted === true) leave();
  draining?.addEventListener("abort", leave, { once: true });
  return {
    stopped,
    async [Symbol.asyncDispose]() {
      isStopping = true;
      draining?.removeEventListener("abort", leave);
      // New requests stop first; requests that the broker has delivered are answered before the disposal ends.
      await service.stop();
      await dispatcher.idle();
      // The last answers leave at the end of a turn.
      await endOfTurn();
    },
  };
}

async function handle(dispatcher: Dispatcher, log: Log, method: Method, message: ServiceMsg): Promise<void> {
  // The broker itself sends a message of a stream, or an answer, on any subject that its requester names; and an answer to such a
  // subject would be sent with the rights of this service. Neither has an inbox.
  if (message.reply?.startsWith(INBOX) !== true) {
    countRefusedCall(method.path);
    log.warn("call refused, it names no inbox for its answer", { method: method.path });
    return;
  }
  const header = (name: string): string | undefined => message.headers?.get(name);
  const answer = await dispatcher.dispatch({ method, payload: message.data, header, caller: BROKER_CALLER });
  await endOfTurn();
  if (isGivenUp(answer)) return;
  try {
    respond(message, answer);
  } catch (error) {
    const fields = { method: method.path, error };
    if ((error as Partial<NatsError>).code !== ErrorCode.MaxPayloadExceeded) {
      return log.error("response not sent, the outcome is unknown to the caller", fields);
    }
    respondRefusal(message, refuse("response_too_large", "The response is too large. Request fewer items."));
    log.error("response too large, a refusal was sent in its place", fields);
  }
}

/** A call whose headers were refused has no deadline, and its caller gets that answer. */
function isGivenUp({ deadline }: Answer): boolean {
  return deadline !== undefined && Date.now() > deadline.getTime() + GIVEN_UP_AFTER_MS;
}

function respond(message: ServiceMsg, answer: Answer): void {
  if (answer.ok) message.respond(answer.payload);
  else respondRefusal(message, answer.refusal);
}

function respondRefusal(message: ServiceMsg, refusal: Refusal): void {
  const marked = headers();
  marked.set(HEADER.error, refusal.code);
  message.respond(encodeRefusal(refusal), { headers: marked });
}
