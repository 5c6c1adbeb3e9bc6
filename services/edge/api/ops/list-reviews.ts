import { Type } from "typebox";
import { ReviewState } from "#proto/pamm/common/v1/review.ts";
import { list, model } from "../../fields/field.ts";
import { or } from "../../fields/message.ts";
import { aboutOperationFilter, DEFAULT_LIMIT, limit100, loginField } from "../schemas/request-fields.ts";
import { opaquePage } from "../schemas/page.ts";
import { type Reviewer, reviewGroup, REVIEWERS, ReviewItem, stateFilter } from "../schemas/review.ts";
import { reviewingService } from "../schemas/review-sets.ts";
import { pageRoute } from "../../http/page-route.ts";
import { aboutOperation } from "./about-operation.ts";
import { pageOfServices, serviceOf } from "./services.ts";

export const listReviews = pageRoute({
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
  filter: {
    state: or(stateFilter, ReviewState.UNSPECIFIED),
    login: Type.Optional(loginField("Only what is about this account.", "master")),
    operation_id: Type.Optional(aboutOperationFilter),
    group: Type.Optional(reviewGroup),
  },
  limit: limit100(DEFAULT_LIMIT),
  cursor: "number",
  reply: model("ReviewPage", "A page of reviews.", {
    ...opaquePage(ReviewItem, "By service, then ascending by number."),
    unreachable: list(reviewingService.of("Name of a service.", "platform"), {
      description:
        "Services that could not be reached. Their reviews are missing from this page; with `operation_id` also those about movements that only they know.",
    }),
  }),
  refusals: ["operation_not_found", "operation_removed"],

  async call(deps, { operationId, group, limit, ...filter }, after, context) {
    const about = await aboutOperation(deps, operationId, context);
    // Services may have groups of the same number.
    const groupOf = (service: Reviewer) => group && (group.service === service ? group.group : "");
    const { unreachable, ...page } = await pageOfServices(
      {
        services: REVIEWERS,
        after,
        limit,
        list: (service, part, within) =>
          serviceOf(deps, service).listReviews(
            { ...part, ...filter, about: about.names[service], group: groupOf(service) },
            within,
          ),
      },
      context,
    );
    return {
      ...page,
      unreachable: REVIEWERS.filter((service) => [...unreachable, ...about.unreachable].includes(service)),
    };
  },
  next: ({ next }) => next,
});
