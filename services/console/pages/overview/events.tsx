import type { Column } from "../../components/table/column.ts";
import {
  amountColumn,
  investorColumn,
  masterColumn,
  operationColumn,
  timeColumn,
} from "../../components/table/columns.tsx";
import { TableSection } from "../../components/table/table.tsx";
import type { Models } from "../../../client/index.ts";
import { latestEvents } from "../../live/feed.ts";
import { words } from "../../formats/words.ts";

type Event = Models["Event"];

const COLUMNS: readonly Column<Event>[] = [
  timeColumn("Time", ({ occurred_at: at }) => at),
  { title: "What", text: ({ type }) => words(type.replace(".", " ")) },
  investorColumn(({ login }) => login, "Login"),
  masterColumn(({ master_login: login }) => login),
  amountColumn("Amount", ({ amount }) => amount),
  operationColumn(({ operation_id: id }) => id),
  { title: "Reason", isWide: true, text: ({ reason }) => (reason === null ? "" : words(reason)) },
];

/** What has happened since the sign-in. */
export function Events() {
  return (
    <TableSection
      title="Events since sign-in"
      label="Events"
      columns={COLUMNS}
      rows={latestEvents.value}
      idOf={({ id }) => id.toString()}
      empty="Nothing has happened since you signed in."
    />
  );
}
