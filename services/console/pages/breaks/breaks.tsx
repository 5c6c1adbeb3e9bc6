import type { Models } from "../../../client/index.ts";
import { BreakLink } from "../../components/links.tsx";
import type { Column } from "../../components/table/column.ts";
import { accountColumn, ageColumn, amountColumn, masterColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import type { List } from "../../data/use-list.ts";
import { words } from "../../formats/words.ts";
import { isOfMaster } from "../reviews/is-master.ts";

type Break = Models["Break"];

const COLUMNS: readonly Column<Break>[] = [
  { title: "Break", text: ({ id }) => id, cell: ({ id }) => <BreakLink id={id} /> },
  { title: "Check", text: ({ check }) => check, cell: ({ check }) => words(check) },
  { title: "What differs", isWide: true, text: ({ message }) => message },
  accountColumn("Account", (row) => ({ login: row.login, isMaster: isOfMaster(row) })),
  masterColumn(({ master_login: login }) => login, "Stopped Master"),
  amountColumn("At risk", ({ at_risk: amount }) => amount, true),
  ageColumn(({ opened_at: at }) => at),
];

export function Breaks({ list }: { readonly list: List<Break> }) {
  return (
    <ListSection
      title="Open breaks"
      columns={COLUMNS}
      list={list}
      empty="No check has found a difference that is still there."
    />
  );
}
