import { Type } from "typebox";
import { model } from "../../fields/field.ts";
import {
  aboutOperationFilter,
  DEFAULT_LIMIT,
  limit100,
  loginField,
  opaqueCursor,
  reviewGroup,
} from "../schemas/request-fields.ts";
import { opaquePage, pageAt } from "../schemas/page.ts";
import { readReviewGroup, type Reviewer, REVIEWERS, reviewItem, ReviewItem, stateOf } from "../schemas/review.ts";
import { reviewingService, reviewState } from "../schemas/review-sets.ts";
import { type Deps, route } from "../../http/route.ts";
import { aboutOperation } from "./about-operation.ts";
import { pageOfServices, serviceOf } from "./services.ts";

export const listReviews = route({
  operationId: "listReviews",
  method: "GET",
  url: "/api/v1/ops/reviews",
  scope: "ops",
  class: "read",
  tag: "Reviews",
  summary: "List open reviews",
  description:
    "Cases for manual review with their evidence and the available actions: movements on the trading platform, then pools, then fees, each ascending by number. Unreachable services are listed in `unreachable`; their reviews are missing. `login` finds the reviews about one account, also the decided ones with `state`. `operation_id` finds those of one operation; one of a whole account or Master is found by it only when it names a deal of the operation. `group` finds those of one cause.",
  returns: "A page of reviews.",
  query: Type.Object({
    state: Type.Optional(
      reviewState.of("Only reviews with this status; without it, all open and proposed reviews.", "open"),
    ),
    login: Type.Optional(loginField("Only what is about this account.", "master")),
    operation_id: Type.Optional(aboutOperationFilter),
    group: Type.Optional(reviewGroup),
    limit: limit100(DEFAULT_LIMIT),
    cursor: Type.Optional(opaqueCursor),
  }),
  reply: model("ReviewPage", "A page of reviews.", {
    ...opaquePage(ReviewItem, "By service, then ascending by number."),
    unreachable: Type.Array(reviewingService.of("Name of a service.", "platform"), {
      description:
        "Services that could not be reached. Their reviews are missing from this page; with `operation_id` also those about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],
  check: ({ query }, deps) => pageOf(query, deps).errors,

  async handle(deps, { query }, context) {
    const page = pageOf(query, deps);
    const state = stateOf(query.state);
    const group = query.group === undefined ? undefined : readReviewGroup(query.group);
    const about = await aboutOperation(deps, query.operation_id, context);
    const { found, next, unreachable } = await pageOfServices(
      {
        services: REVIEWERS,
        cursor: page.after ?? 0n,
        limit: Number(query.limit ?? DEFAULT_LIMIT),
        list: (service, part, within) =>
          serviceOf(deps, service).listReviews(
            {
              ...part,
              state,
              login: query.login,
              about: about.names[service],
              group: group && groupOf(group, service),
            },
            within,
          ),
      },
      context,
    );
    return {
      items: found.map(({ service, item }) => reviewItem(service, item)),
      ...page.next(next),
      unreachable: REVIEWERS.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
});

/** Services may have groups of the same number. */
function groupOf({ service, group }: ReturnType<typeof readReviewGroup>, of: Reviewer): string {
  return service === of ? group : "";
}

type Filter = {
  readonly state?: string | undefined;
  readonly login?: string | undefined;
  readonly operation_id?: string | undefined;
  readonly group?: string | undefined;
  readonly cursor?: string | undefined;
};

function pageOf({ state, login, operation_id: id, group, cursor }: Filter, { cursors }: Deps) {
  const ofAccount = login === undefined ? "" : `&login=${login}`;
  const ofGroup = group === undefined ? "" : `&group=${group}`;
  const list = `reviews?state=${state ?? "undecided"}${ofAccount}${id === undefined ? "" : `&operation_id=${id}`}${ofGroup}`;
  return pageAt(cursors.number, list, cursor);
}
