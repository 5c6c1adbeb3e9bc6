import type { Subjects } from "#proto/pamm/common/v1/subjects.ts";
import { type ListReviewsRequest, type ListReviewsResponse, ReviewState } from "#proto/pamm/common/v1/review.ts";
import { MAX_PAGE_SIZE, pageOf } from "../page.ts";
import { allOf, type Fragment, fragment, many, type Queryable, sql } from "../postgres/query.ts";
import { type CaseRow, caseFrom } from "./case-row.ts";
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
  const { afterId, limit, state, about, login } = request;
  if (limit < 1 || limit > MAX_PAGE_SIZE || afterId < 0n || STATES[state] === undefined) {
    throw refuse("validation_failed", `A page has 1 to ${MAX_PAGE_SIZE} reviews of a known state.`);
  }
  const conditions = allOf([
    fragment`id > ${afterId} and state = any(${STATES[state]}::text[])`,
    about && isAbout(about),
    login === undefined ? undefined : foundFirst(fragment`login = ${login}`),
  ]);
  const rows = await many<CaseRow>(
    db,
    sql`select * from review_case_row
        where ${conditions}
        order by id
        limit ${limit + 1}`,
  );
  const { items, hasMore } = pageOf(rows, limit);
  return { items: items.map(caseFrom).map(reviewMessage), hasMore };
}

function isAbout({ operationIds, dealIds }: Subjects): Fragment {
  const names = [...operationIds, ...dealIds.map((id) => `deal:${id}`)];
  return foundFirst(fragment`array[operation_id, 'deal:' || deal_id::text] && ${names}::text[]`);
}

/** By an index: reviews of all times may be decided, and few of them are about one operation or account. */
function foundFirst(condition: Fragment): Fragment {
  return fragment`id = any(array(select id from review_case where ${condition}))`;
}
