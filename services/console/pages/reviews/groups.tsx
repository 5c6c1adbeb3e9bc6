import type { Models } from "../../../client/index.ts";
import { reviewGroupHref, reviewHref } from "../../app/addresses.ts";
import { NotReached } from "../../components/not-reached.tsx";
import type { Column } from "../../components/table/column.ts";
import { accountColumn, ageColumn, amountColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { sentence } from "../../formats/words.ts";
import { Filters } from "./filters.tsx";
import { isAboutMaster } from "./is-master.ts";
import { happenedIn, whatHappened } from "./what-happened.ts";

type Group = Models["ReviewGroup"];

const COLUMNS: readonly Column<Group>[] = [
  { title: "Decide", text: ({ reason }) => reason, cell: (group) => <GroupLink group={group} /> },
  { title: "What happened", isWide: true, text: (group) => whatHappened(happenedIn(group)) },
  accountColumn("Account", (group) => ({ login: group.login, isMaster: isAboutMaster(group) })),
  { title: "Accounts", isNumber: true, text: ({ open, proposed }) => String(open + proposed) },
  { title: "To confirm", isNumber: true, text: ({ proposed }) => String(proposed) },
  amountColumn("Amount", ({ amount }) => amount),
  ageColumn(({ opened_at: at }) => at),
];

/** What waits for a decision, by its cause: what many accounts have in common is one row. */
export function Groups() {
  const list = useList(
    "listReviewGroups",
    {},
    { topics: ["reviews"], isAscending: true, idOf: ({ first_review_id: id }) => id },
  );
  return (
    <>
      <h1>Reviews</h1>
      <Filters state="" />
      <p class="note">
        A decision takes two people: one proposes an action, and another one, signed in with a key of their own,
        approves the same. Nothing is changed before that.
      </p>
      <NotReached services={list.last?.unreachable} what="reviews" />
      <ListTable label="Reviews by cause" columns={COLUMNS} list={list} empty="No review waits for an operator." />
    </>
  );
}

/** A group of one is its review. */
export function GroupLink({ group }: { readonly group: Group }) {
  const isOne = group.open + group.proposed === 1;
  return (
    <a href={isOne ? reviewHref(group.first_review_id) : reviewGroupHref(group.group)}>{sentence(group.reason)}</a>
  );
}
