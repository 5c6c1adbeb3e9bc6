import type { Input, Models } from "../../../client/index.ts";
import { operationsHref } from "../../app/addresses.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../badge.tsx";
import { OperationLink } from "../links.tsx";
import type { Column } from "../table/column.ts";
import { amountColumn, investorColumn, masterColumn, ticketColumn, timeColumn } from "../table/columns.tsx";
import { ListSection } from "../table/list-table.tsx";

type Operation = Models["Operation"];
type Of = Pick<NonNullable<Input<"listOperations">["query"]>, "login" | "master_login">;

/** Of every list of operations. */
export const OPERATION_COLUMNS: readonly Column<Operation>[] = [
  timeColumn("Requested", ({ requested_at: at }) => at),
  { title: "Operation", text: ({ id }) => id, cell: ({ id }) => <OperationLink id={id} /> },
  { title: "Action", text: ({ action }) => action },
  investorColumn(({ login }) => login),
  masterColumn(({ master_login: login }) => login),
  amountColumn("Amount", ({ amount }) => amount),
  {
    title: "Outcome",
    text: ({ outcome, imported }) => (imported ? `${outcome}, imported` : outcome),
    cell: ({ outcome, imported }) => (
      <>
        <Badge state={outcome} />
        {imported && <span class="quiet"> imported</span>}
      </>
    ),
  },
  ticketColumn("Ticket", ({ deal_id: id }) => id),
  { title: "Comment", isWide: true, text: ({ comment }) => comment ?? "" },
];

/** The operations of one account, newest first. */
export function OperationsList({ of, topic }: { readonly of: Of; readonly topic: `login:${string}` }) {
  const list = useList("listOperations", { query: of }, { topics: [topic] });
  return (
    <ListSection
      title="Operations"
      columns={OPERATION_COLUMNS}
      list={list}
      empty="There is no operation. Older ones than the retention keeps are not listed."
    >
      <p class="note">
        <a href={operationsHref(of)}>Search in these operations</a>
      </p>
    </ListSection>
  );
}
