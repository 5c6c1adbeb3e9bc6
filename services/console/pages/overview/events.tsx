import { InvestorLink, MasterLink, OperationLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import type { Column } from "../../components/table/column.ts";
import { Table } from "../../components/table/table.tsx";
import { Time } from "../../components/time.tsx";
import type { Models } from "../../../client/index.ts";
import { latestEvents } from "../../live/feed.ts";
import { utcText } from "../../formats/time.ts";
import { words } from "../../formats/words.ts";

type Event = Models["Event"];

const COLUMNS: readonly Column<Event>[] = [
  { title: "Time", text: ({ occurred_at: at }) => utcText(at), cell: ({ occurred_at: at }) => <Time at={at} /> },
  { title: "What", text: ({ type }) => words(type.replace(".", " ")) },
  { title: "Login", text: ({ login }) => login ?? "", cell: ({ login }) => <InvestorLink id={login} /> },
  {
    title: "Master",
    text: ({ master_login: login }) => login ?? "",
    cell: ({ master_login: login }) => <MasterLink id={login} />,
  },
  {
    title: "Amount",
    isNumber: true,
    text: ({ amount }) => amount ?? "",
    cell: ({ amount }) => <Money amount={amount} />,
  },
  {
    title: "Operation",
    text: ({ operation_id: id }) => id ?? "",
    cell: ({ operation_id: id }) => <OperationLink id={id} />,
  },
  { title: "Reason", isWide: true, text: ({ reason }) => (reason === null ? "" : words(reason)) },
];

/** What has happened since the sign-in. */
export function Events() {
  return (
    <section aria-labelledby="events-title">
      <h2 id="events-title">Events since sign-in</h2>
      <Table
        label="Events"
        columns={COLUMNS}
        rows={latestEvents.value}
        idOf={({ id }) => id.toString()}
        empty="Nothing has happened since you signed in."
      />
    </section>
  );
}
