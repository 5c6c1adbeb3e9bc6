import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isTrouble } from "#kernel/trouble.ts";
import { refuse } from "../../problems/refusals.ts";
import type { Services } from "../../route.ts";

/** What the parts of this service are called outside, and whom the edge asks for each. */
const PARTS = { platform: "platform", subscription: "subscriptions", fee: "fees", funding: "funding" } as const;
export type PartName = keyof typeof PARTS;

/** Who cannot be reached keeps nobody from seeing what the others say. */
const ANSWER_WITHIN_MS = 3_000;
/** Where the pages of a part that was listed before end: nothing of it follows. */
const BEHIND_ALL = 2n ** 62n;

export function partOf<Name extends PartName>(services: Services, name: Name): Services[(typeof PARTS)[Name]] {
  return services[PARTS[name]];
}

type Page = { readonly afterId: bigint; readonly limit: number };
type PageAnswer = { readonly items: readonly { readonly id: bigint }[]; readonly hasMore: boolean };
type Answered<Name, A> = { readonly part: Name; readonly answer: A | undefined };

/** A list that goes through several parts, in their order, and through each by its ids. */
type ListOfParts<Name, A> = {
  readonly parts: readonly Name[];
  readonly ask: (part: Name, page: Page, context: CallContext) => Promise<A>;
  /** 0 to begin. */
  readonly cursor: bigint;
  readonly limit: number;
};

export type PageOfParts<Name, A extends PageAnswer> = {
  readonly found: readonly { readonly part: Name; readonly item: A["items"][number] }[];
  /** Undefined on the last page. */
  readonly next: bigint | undefined;
  readonly answers: readonly A[];
  readonly unreachable: Name[];
};

/** Asks all parts at once. Refused when nobody can be reached, because that is no empty list. */
export async function pageOfParts<Name extends PartName, A extends PageAnswer>(
  { parts, ask, cursor, limit }: ListOfParts<Name, A>,
  context: CallContext,
): Promise<PageOfParts<Name, A>> {
  const from = placeOf(cursor, parts.length);
  const within = childContext(context, { withinMs: ANSWER_WITHIN_MS });
  const asked = parts.map(async (part, index): Promise<Answered<Name, A>> => {
    const afterId = index < from.index ? BEHIND_ALL : index === from.index ? from.afterId : 0n;
    return { part, answer: await ask(part, { afterId, limit }, within).catch(unlessTrouble) };
  });
  const answered = await Promise.all(asked);
  const unreachable = answered.filter(({ answer }) => answer === undefined).map(({ part }) => part);
  if (unreachable.length === parts.length) throw refuse("service_unavailable", "No part can be reached.");
  const all = inOrder(answered);
  const found = all.slice(0, limit);
  const last = all.length > limit || answered.some(({ answer }) => answer?.hasMore) ? found.at(-1) : undefined;
  const next = last && last.item.id * BigInt(parts.length) + BigInt(parts.indexOf(last.part));
  return { found, next, answers: answered.flatMap(({ answer }) => answer ?? []), unreachable };
}

/** A cursor is one number of both: the part is the remainder. */
function placeOf(cursor: bigint, parts: number): { readonly index: number; readonly afterId: bigint } {
  return { index: Number(cursor % BigInt(parts)), afterId: cursor / BigInt(parts) };
}

/** Up to the first of which there is more: what comes after that has to wait for the next page. */
function inOrder<Name, A extends PageAnswer>(answered: readonly Answered<Name, A>[]) {
  const end = answered.findIndex(({ answer }) => answer?.hasMore);
  const complete = end === -1 ? answered : answered.slice(0, end + 1);
  return complete.flatMap(({ part, answer }) =>
    (answer?.items ?? []).map((item): { part: Name; item: A["items"][number] } => ({ part, item })),
  );
}

function unlessTrouble(error: unknown): undefined {
  if (!isTrouble(error)) throw error;
  return undefined;
}
