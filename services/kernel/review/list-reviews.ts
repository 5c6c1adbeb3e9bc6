import type { Subjects } from "#proto/pamm/common/v1/subjects.ts";
import {
  type ListReviewGroupsRequest,
  type ListReviewGroupsResponse,
  type ListReviewsRequest,
  type ListReviewsResponse,
  type ReviewGroup,
  ReviewState,
} from "#proto/pamm/common/v1/review.ts";
import { usdToProto } from "../contract/money.ts";
import { MAX_PAGE_SIZE, pageOf } from "../values/page.ts";
import { allOf, type Fragment, fragment, many, type Queryable, sql } from "../postgres/query.ts";
import { type CauseRow, causeFrom, type ReviewCase } from "./case-row.ts";
import { refuse } from "./refusals.ts";
import { reviewMessage } from "./review-message.ts";

const STATES: Readonly<Record<ReviewState, readonly string[]>> = {
  [ReviewState.UNSPECIFIED]: ["OPEN", "PROPOSED"],
  [ReviewState.OPEN]: ["OPEN"],
  [ReviewState.PROPOSED]: ["PROPOSED"],
  [ReviewState.DECIDED]: ["DECIDED"],
};

/** A page of cases, ascending by id, without those that were closed without a decision. */
export async function listReviews(db: Queryable, request: ListReviewsRequest): Promise<ListReviewsResponse> {
  const { afterId, limit, state, about, login, group } = request;
  if (limit < 1 || limit > MAX_PAGE_SIZE || afterId < 0n || STATES[state] === undefined) {
    throw refuse("validation_failed", `A page has 1 to ${MAX_PAGE_SIZE} reviews of a known state.`);
  }
  const conditions = allOf([
    fragment`id > ${afterId} and state = any(${STATES[state]}::text[])`,
    about && isAbout(about),
    login === undefined ? undefined : foundFirst(fragment`login = ${login}`),
    group === undefined ? undefined : fragment`"group" = ${group}`,
  ]);
  const rows = await many<ReviewCase>(
    db,
    sql`select * from review_case_row
        where ${conditions}
        order by id
        limit ${limit + 1}`,
  );
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map((item) => reviewMessage(item)), hasMore };
}

type GroupRow = CauseRow & {
  readonly id: bigint;
  readonly group: string;
  readonly reason: string;
  readonly open: number;
  readonly proposed: number;
  readonly amount: bigint | null;
  readonly lowest: bigint | null;
  readonly highest: bigint | null;
  readonly openedAt: Date;
  readonly login: string;
};

/** A page of the groups of undecided cases, ascending by the lowest id of each. */
export async function listReviewGroups(
  db: Queryable,
  { afterId, limit }: ListReviewGroupsRequest,
): Promise<ListReviewGroupsResponse> {
  if (limit < 1 || limit > MAX_PAGE_SIZE || afterId < 0n) {
    throw refuse("validation_failed", `A page has 1 to ${MAX_PAGE_SIZE} groups.`);
  }
  const rows = await many<GroupRow>(
    db,
    sql`select min(id) as id, cause_group as "group", reason, cause_action as "causeAction", cause_comment as "causeComment", cause_day as day,
               (count(*) filter (where state = 'OPEN'))::int as open, (count(*) filter (where state = 'PROPOSED'))::int as proposed,
               sum(amount_minor)::bigint as amount, min(amount_minor) as lowest, max(amount_minor) as highest, min(opened_at) as "openedAt", case when min(login) = max(login) then min(login) else '' end as login
        from review_case
        where state in ('OPEN', 'PROPOSED')
        group by cause_group, reason, cause_action, cause_comment, cause_day
        having min(id) > ${afterId}
        order by min(id)
        limit ${limit + 1}`,
  );
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(groupMessage), hasMore };
}

function groupMessage({ causeAction, causeComment, day, amount, lowest, highest, ...row }: GroupRow): ReviewGroup {
  const money = (minor: bigint | null) => (minor === null ? undefined : usdToProto(minor));
  const cause = causeFrom({ causeAction, causeComment, day });
  return { ...row, cause, amount: money(amount), lowest: money(lowest), highest: money(highest) };
}

function isAbout({ operationIds, dealIds }: Subjects): Fragment {
  const names = [...operationIds, ...dealIds.map((id) => `deal:${id}`)];
  return foundFirst(fragment`array[operation_id, 'deal:' || deal_id::text] && ${names}::text[]`);
}

/** By an index: reviews of all times may be decided, and few of them are about one operation or account. */
function foundFirst(condition: Fragment): Fragment {
  return fragment`id = any(array(select id from review_case where ${condition}))`;
}
