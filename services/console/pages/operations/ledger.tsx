import type { Models } from "../../../client/index.ts";
import { OPERATION_COLUMNS } from "../../components/lists/operations-list.tsx";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { filterOf, Search } from "./search.tsx";

type Operation = Models["Operation"];

const LIMIT = 100;

const COLUMNS: readonly Column<Operation>[] = [
  ...OPERATION_COLUMNS,
  {
    title: "Reference",
    text: ({ reference }) => reference ?? "",
    cell: ({ reference }) => <span class="code">{reference ?? ""}</span>,
  },
  { title: "Your id", text: ({ external_id: id }) => id ?? "" },
];

/** Deposits, withdrawals, assigns and unassigns, the newest first. */
export function Ledger({ query }: { readonly query: URLSearchParams }) {
  const filter = filterOf(query);
  const list = useList({
    keys: [query.toString()],
    topics: ["operations", "subscriptions"],
    idOf: ({ id }: Operation) => id,
    page: (client, cursor: string | undefined, signal) =>
      client.query(
        "listOperations",
        { query: { ...filter, limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) } },
        { signal },
      ),
  });
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <h1>Operations</h1>
      <Search query={query} />
      <ReadState read={{ ...list, data: list.items }} what="operations" />
      <ListTable
        label="Operations"
        columns={COLUMNS}
        list={list}
        idOf={({ id }) => id}
        empty={
          isFiltered
            ? "No operation matches. Older ones than the retention keeps are not searched."
            : "There is no operation yet."
        }
      />
    </>
  );
}
