import type { Models } from "../../../client/index.ts";
import { OPERATION_COLUMNS } from "../../components/lists/operations-list.tsx";
import type { Column } from "../../components/table/column.ts";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { filterOf, Search, searchedFor } from "./search.tsx";
import type { PageProps } from "../page.ts";
import { OperationView } from "./operation.tsx";

type Operation = Models["Operation"];

const COLUMNS: readonly Column<Operation>[] = [
  ...OPERATION_COLUMNS,
  {
    title: "Reference",
    text: ({ reference }) => reference ?? "",
    cell: ({ reference }) => <span class="code">{reference ?? ""}</span>,
  },
  { title: "Your id", text: ({ external_id: id }) => id ?? "" },
];

export function View({ path: [id], query }: PageProps) {
  return id === undefined ? <Ledger query={query} /> : <OperationView key={id} id={id} />;
}

/** Deposits, withdrawals, assigns and unassigns, the newest first. */
function Ledger({ query }: { readonly query: URLSearchParams }) {
  const filter = filterOf(query);
  const list = useList("listOperations", { query: filter }, { topics: ["operations", "subscriptions"] });
  const searched = searchedFor(filter);
  return (
    <>
      <h1>Operations</h1>
      <Search query={query} />
      {searched !== "" && <p class="note">Searched for {searched}.</p>}
      <ListTable label="Operations" columns={COLUMNS} list={list} empty={emptyText(filter)} />
    </>
  );
}

function emptyText(filter: ReturnType<typeof filterOf>): string {
  if (Object.keys(filter).length === 0) return "There is no operation yet.";
  if (filter.ticket === undefined) return "No operation matches. Older ones than the retention keeps are not searched.";
  return "No operation that matches has made this deal. It may be a trade, the credit of a result, a fee of a week, a deal of another party, or unknown to the service.";
}
