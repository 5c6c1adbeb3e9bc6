import { Type } from "typebox";
import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { isTrouble } from "#kernel/trouble.ts";
import type { Break, Check, ListBreaksRequest, ListBreaksResponse } from "#proto/pamm/common/v1/reconciliation.ts";
import { BreakItem, breakItem, CHECKED, type Checked, CheckItem, checkItem } from "../../schemas/break.ts";
import { choice } from "../../schemas/field.ts";
import { limit100, opaqueCursor } from "../../schemas/fields.ts";
import { cursorErrors, OpaquePage, readCursor } from "../../schemas/page.ts";
import { refuse } from "../../refusals.ts";
import { type Deps, route } from "../../route.ts";

const DEFAULT_LIMIT = 50;
const LIST = "breaks";
/** A service that is away keeps nobody from seeing what the others have found. */
const ANSWER_WITHIN_MS = 3_000;
/** Where the pages of a service that was listed before end: nothing of it follows. */
const BEHIND_ALL = 2n ** 62n;

export const listBreaks = route({
  method: "GET",
  url: "/api/v1/ops/breaks",
  scope: "ops",
  class: "read",
  tag: "Reconciliation",
  summary: "List what does not tie",
  description:
    "Open breaks of all services, by part and number, page by page; with every page all checks, and when each was complete. A part that cannot be reached is named in `unreachable`: nobody knows what it would have said.",
  query: Type.Object({ limit: Type.Optional(limit100(DEFAULT_LIMIT)), cursor: Type.Optional(opaqueCursor) }),
  reply: Type.Object({
    ...OpaquePage(BreakItem).properties,
    checks: Type.Array(CheckItem),
    unreachable: Type.Array(choice(CHECKED, { description: "Name of a part of this service.", example: "fee" }), {
      description: "Parts that could not be reached, whose breaks and checks are missing here.",
    }),
  }),
  refusals: [],
  check: ({ query }, deps) => cursorErrors(readCursor(deps, LIST, query.cursor)),

  async handle(deps, { query }, context) {
    const limit = Number(query.limit ?? DEFAULT_LIMIT);
    const from = placeOf(readCursor(deps, LIST, query.cursor) ?? 0n);
    const answers = await Promise.all(CHECKED.map((service) => ask(deps, { service, from, limit }, context)));
    if (answers.every(({ isAway }) => isAway)) {
      throw refuse("service_unavailable", "No part that checks its books can be reached.");
    }
    const found = inOrder(answers);
    const page = found.slice(0, limit);
    const hasMore = found.length > limit || answers.some((answer) => answer.hasMore);
    const last = hasMore ? page.at(-1) : undefined;
    return {
      items: page.map(({ service, item }) => breakItem(service, item)),
      next_cursor: last === undefined ? null : deps.cursors.write(LIST, cursorOf(last.service, last.item.id)),
      has_more: last !== undefined,
      checks: answers.flatMap(({ service, checks }) => checks.map((check) => checkItem(service, check))),
      unreachable: answers.filter(({ isAway }) => isAway).map(({ service }) => service),
    };
  },
});

type Place = { readonly index: number; readonly afterId: bigint };

/** One number of both: the service is the remainder. */
function cursorOf(service: Checked, id: bigint): bigint {
  return id * BigInt(CHECKED.length) + BigInt(CHECKED.indexOf(service));
}

function placeOf(cursor: bigint): Place {
  const services = BigInt(CHECKED.length);
  return { index: Number(cursor % services), afterId: cursor / services };
}

/** Up to the first of which there is more: what comes after that has to wait for the next page. */
function inOrder(answers: readonly Answer[]): { readonly service: Checked; readonly item: Break }[] {
  const end = answers.findIndex(({ hasMore }) => hasMore);
  const complete = end === -1 ? answers : answers.slice(0, end + 1);
  return complete.flatMap(({ service, items }) => items.map((item) => ({ service, item })));
}

type Answer = {
  readonly service: Checked;
  readonly items: readonly Break[];
  readonly checks: readonly Check[];
  readonly hasMore: boolean;
  readonly isAway: boolean;
};

type Question = { readonly service: Checked; readonly from: Place; readonly limit: number };

async function ask(deps: Deps, { service, from, limit }: Question, context: CallContext): Promise<Answer> {
  const index = CHECKED.indexOf(service);
  const afterId = index < from.index ? BEHIND_ALL : index === from.index ? from.afterId : 0n;
  try {
    const within = childContext(context, { withinMs: ANSWER_WITHIN_MS });
    const { items, checks, hasMore } = await keeperOf(deps, service).listBreaks({ afterId, limit }, within);
    return { service, items, checks, hasMore, isAway: false };
  } catch (error) {
    if (!isTrouble(error)) throw error;
    return { service, items: [], checks: [], hasMore: false, isAway: true };
  }
}

type Keeper = {
  readonly listBreaks: (request: ListBreaksRequest, context: CallContext) => Promise<ListBreaksResponse>;
};

function keeperOf({ platform, subscriptions, fees, funding }: Deps, service: Checked): Keeper {
  switch (service) {
    case "platform":
      return platform;
    case "subscription":
      return subscriptions;
    case "fee":
      return fees;
    case "funding":
      return funding;
  }
}
