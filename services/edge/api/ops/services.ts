import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import type { Subjects } from "#proto/pamm/common/v1/subjects.ts";
import type { Deps, Services } from "../../http/route.ts";
import { READ_MOVEMENTS_MS, readMovements, readTransfers, unlessUnreachable } from "../operations/movements.ts";
import { findOperation } from "../operations/operations.ts";
import { refuse } from "../../problems/refusals.ts";

/** The public name of each service, and the client behind it. */
const CLIENTS = { platform: "platform", subscription: "subscriptions", fee: "fees", funding: "funding" } as const;
type ServiceName = keyof typeof CLIENTS;

/** Shorter than the time limit of the request: a service that does not answer must not hide the answers of the others. */
const ANSWER_WITHIN_MS = 3_000;
/** Above every id: a service that was listed on earlier pages returns an empty page. */
const ABOVE_ALL_IDS = 2n ** 62n;

export function serviceOf<Name extends ServiceName>(services: Services, name: Name): Services[(typeof CLIENTS)[Name]] {
  return services[CLIENTS[name]];
}

type Page = { readonly afterId: bigint; readonly limit: number };
type PageAnswer = { readonly items: readonly { readonly id: bigint }[]; readonly hasMore: boolean };
/** With the public name of the service that has it. */
type Of<Name, T> = T & { readonly service: Name };

/** A list that goes through several services, in their order, and through each by its ids. */
type ListOfServices<Name, A> = {
  readonly services: readonly Name[];
  readonly list: (service: Name, page: Page, context: CallContext) => Promise<A>;
  /** 0 to begin. */
  readonly after: bigint;
  readonly limit: number;
};

type PageOfServices<Name, A extends PageAnswer> = {
  readonly items: readonly Of<Name, A["items"][number]>[];
  /** Undefined on the last page. */
  readonly next: bigint | undefined;
  readonly answers: readonly Of<Name, A>[];
  readonly unreachable: readonly Name[];
};

/** Asks all services at once. Refused when none can be reached, because that is no empty list. */
export async function pageOfServices<Name extends ServiceName, A extends PageAnswer>(
  { services, list, after, limit }: ListOfServices<Name, A>,
  context: CallContext,
): Promise<PageOfServices<Name, A>> {
  const from = readPlace(after, services.length);
  const within = childContext(context, { withinMs: ANSWER_WITHIN_MS });
  const requested = services.map(async (service, index) => {
    const afterId = index < from.index ? ABOVE_ALL_IDS : index === from.index ? from.afterId : 0n;
    const answer = await list(service, { afterId, limit }, within).catch(unlessUnreachable);
    return answer && { ...answer, service };
  });
  const answers = (await Promise.all(requested)).filter((answer) => answer !== undefined);
  if (answers.length === 0) throw refuse("service_unavailable", "No service can be reached.");
  const all = inOrder(answers);
  const items = all.slice(0, limit);
  const last = all.length > limit || answers.some(({ hasMore }) => hasMore) ? items.at(-1) : undefined;
  const next = last && last.id * BigInt(services.length) + BigInt(services.indexOf(last.service));
  const unreachable = services.filter((name) => !answers.some(({ service }) => service === name));
  return { items, next, answers, unreachable };
}

/** A place is one number of both: the service is the remainder. */
function readPlace(place: bigint, services: number): { readonly index: number; readonly afterId: bigint } {
  return { index: Number(place % BigInt(services)), afterId: place / BigInt(services) };
}

/** Ends with the first service that has more: the items of the services behind it belong to later pages. */
function inOrder<Name, A extends PageAnswer>(answers: readonly Of<Name, A>[]): Of<Name, A["items"][number]>[] {
  const end = answers.findIndex(({ hasMore }) => hasMore);
  const complete = end === -1 ? answers : answers.slice(0, end + 1);
  return complete.flatMap(({ service, items }) => items.map((item) => ({ ...item, service })));
}

type AboutOperation = {
  /** What reviews and breaks of each service name when they are about the operation; undefined when every case is wanted. */
  readonly names: Readonly<Partial<Record<ServiceName, Subjects>>>;
  /** Services that could not be asked for its movements. */
  readonly unreachable: readonly ServiceName[];
};

/** Every case without an operation. Refused when there is no such operation: that no case is found would be taken for an answer. */
export async function aboutOperation(
  deps: Deps,
  operationId: string | undefined,
  context: CallContext,
): Promise<AboutOperation> {
  if (operationId === undefined) return { names: {}, unreachable: [] };
  const operation = await findOperation(deps, operationId, context);
  const within = childContext(context, { withinMs: READ_MOVEMENTS_MS });
  const movements = await readMovements(deps, [operation], within);
  const transfers = await readTransfers(deps, movements.found, within);
  const legs = [...transfers.found.values()].flatMap((transfer) => transfer.legs);
  const dealIds = legs.flatMap(({ dealId }) => (dealId === 0n ? [] : [dealId]));
  const named = (operationIds: string[]): Subjects => ({ operationIds, dealIds });
  return {
    names: {
      platform: named(legs.map(({ number }) => String(number))),
      subscription: named([operation.operationId]),
      funding: named([operation.operationId]),
      fee: named([]),
    },
    unreachable: [...movements.unreachable, ...transfers.unreachable],
  };
}
