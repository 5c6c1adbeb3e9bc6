import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { ReviewLink } from "../../components/links.tsx";
import { NotReached } from "../../components/not-reached.tsx";
import type { Column } from "../../components/table/column.ts";
import {
  accountColumn,
  ageColumn,
  amountColumn,
  operationColumn,
  timeColumn,
} from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { sentence, words } from "../../formats/words.ts";
import { FILTERS, Filters } from "./filters.tsx";
import { isAboutMaster } from "./is-master.ts";
import type { PageProps } from "../page.ts";
import { GroupView } from "./group.tsx";
import { Groups } from "./groups.tsx";
import { ReviewView } from "./review.tsx";

type Review = Models["Review"];

const COLUMNS: readonly Column<Review>[] = [
  { title: "Review", text: ({ id }) => id, cell: ({ id }) => <ReviewLink id={id} /> },
  { title: "State", text: ({ state }) => state, cell: ({ state }) => <Badge state={state} /> },
  { title: "Reason", isWide: true, text: ({ reason }) => reason, cell: ({ reason }) => sentence(reason) },
  accountColumn("Login", (review) => ({ login: review.login, isMaster: isAboutMaster(review) })),
  amountColumn("Amount", ({ amount }) => amount),
  operationColumn(({ operation_id: id }) => id),
  {
    title: "Decision",
    text: ({ decision }) => decision?.action ?? "",
    cell: ({ decision }) =>
      decision === null ? <span class="none">–</span> : `${words(decision.action)}, by ${decision.proposed_by}`,
  },
  timeColumn("Opened", ({ opened_at: at }) => at),
  ageColumn(({ opened_at: at }) => at),
];

export function View({ path: [id, group], query }: PageProps) {
  if (id === "groups" && group !== undefined) return <GroupView key={group} id={group} />;
  if (id !== undefined) return <ReviewView key={id} id={id} />;
  const state = query.get("state") ?? "";
  return state === "" ? <Groups /> : <Reviews state={state} />;
}

function Reviews({ state }: { readonly state: string }) {
  const filter = FILTERS.find((one) => one.state === state) ?? FILTERS[0];
  const list = useList(
    "listReviews",
    { query: filter.state === "" ? {} : { state: filter.state } },
    { topics: ["reviews"], isAscending: true },
  );
  return (
    <>
      <h1>Reviews</h1>
      <Filters state={filter.state} />
      <NotReached services={list.last?.unreachable} what="reviews" />
      <ListTable
        label="Reviews"
        columns={COLUMNS}
        list={list}
        empty={filter.state === "decided" ? "No review was decided yet." : "No review waits for an operator."}
      />
    </>
  );
}
