import type { Client, Models } from "../../../client/index.ts";
import { reviewsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { ReviewLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { accountColumn, ageColumn, amountColumn } from "../../components/table/columns.tsx";
import { TableSection } from "../../components/table/table.tsx";
import { Section } from "../../components/section.tsx";
import { Since } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { addDecimals, compareDecimals } from "../../formats/decimal.ts";
import { sentence, words } from "../../formats/words.ts";
import { GroupVote } from "./group-vote.tsx";
import { isAboutMaster } from "./is-master.ts";
import { type Happened, whatHappened } from "./what-happened.ts";

type Review = Models["Review"];

const PAGE = 100;
/** Further ones are decided after these. */
const MOST = 1_000;

const COLUMNS: readonly Column<Review>[] = [
  { title: "Review", text: ({ id }) => id, cell: ({ id }) => <ReviewLink id={id} /> },
  accountColumn("Account", (review) => ({ login: review.login, isMaster: isAboutMaster(review) })),
  amountColumn("Amount", ({ amount }) => amount),
  { title: "State", text: ({ state }) => state, cell: ({ state }) => <Badge state={state} /> },
  {
    title: "Proposal",
    isWide: true,
    text: ({ decision }) => (decision === null ? "" : `${words(decision.action)}, by ${decision.proposed_by}`),
  },
  ageColumn(({ opened_at: at }) => at),
];

type Found = { readonly reviews: readonly Review[]; readonly hasMore: boolean };

/** All accounts of one cause, and one decision about them. */
export function GroupView({ id }: { readonly id: string }) {
  const read = useRead((client, signal) => findReviews(client, id, signal), { keys: [id], topics: ["reviews"] });
  return (
    <>
      <p class="trail">
        <a href={reviewsHref()}>Reviews</a>
      </p>
      <Panel read={read} what="the reviews">
        {({ reviews, hasMore }) => <Shown id={id} reviews={reviews} hasMore={hasMore} changed={read.refresh} />}
      </Panel>
    </>
  );
}

async function findReviews(client: Client, group: string, signal: AbortSignal): Promise<Found> {
  const reviews: Review[] = [];
  for (let cursor: string | null | undefined; cursor !== null && reviews.length < MOST;) {
    const query = { group, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page: Models["ReviewPage"] = await client.query("listReviews", { query }, { signal });
    reviews.push(...page.items);
    cursor = page.next_cursor;
    if (cursor !== null && reviews.length >= MOST) return { reviews, hasMore: true };
  }
  return { reviews, hasMore: false };
}

type ShownProps = Found & { readonly id: string; readonly changed: () => void };

/** It stays when its last review is decided: what became of the votes is below. */
function Shown({ id, reviews, hasMore, changed }: ShownProps) {
  const [first] = reviews;
  return (
    <>
      {first === undefined ? (
        <>
          <h1>Nothing waits here any more</h1>
          <Empty>Each review of this cause is decided, or what it was about is gone.</Empty>
        </>
      ) : (
        <>
          <h1>{sentence(first.reason)}</h1>
          <p>{whatHappened(happenedInAll(first, reviews))}</p>
          <Facts
            isStrip
            facts={[
              ["Accounts", `${reviews.length}${hasMore ? "+" : ""}`],
              ["Amount together", <Money amount={happenedInAll(first, reviews).amount} />],
              ["Action of the deals", first.cause === null ? "–" : String(first.cause.action)],
              ["Comment", first.cause === null ? "–" : first.cause.comment],
              ["Day", first.cause?.day ?? "–"],
              ["Opened", <Since at={first.opened_at} />],
            ]}
          />
          {hasMore && (
            <p class="warning">The first {MOST} accounts are shown. Decide these; the others are shown afterwards.</p>
          )}
        </>
      )}
      <Section title={first === undefined ? "Decision" : "Decide for all of them"}>
        <GroupVote group={id} reviews={reviews} changed={changed} />
      </Section>
      {first !== undefined && (
        <TableSection
          title="Accounts"
          label="Accounts of the group"
          columns={COLUMNS}
          rows={reviews}
          idOf={(one) => one.id}
          empty="None."
        />
      )}
    </>
  );
}

function happenedInAll({ reason, meaning, cause }: Review, reviews: readonly Review[]): Happened {
  const amounts = reviews.flatMap(({ amount }) => (amount === null ? [] : [amount]));
  const ordered = amounts.toSorted(compareDecimals);
  return {
    reason,
    meaning,
    cause,
    amount: amounts.length === 0 ? null : addDecimals(amounts),
    lowest: ordered[0] ?? null,
    highest: ordered.at(-1) ?? null,
    count: reviews.length,
  };
}
