import type { Models } from "../../../client/index.ts";
import { BreakLink } from "../../components/links.tsx";
import { NotReached } from "../../components/not-reached.tsx";
import type { Column } from "../../components/table/column.ts";
import { accountColumn, ageColumn, amountColumn, masterColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { words } from "../../formats/words.ts";
import type { PageProps } from "../page.ts";
import { isOfMaster } from "../reviews/is-master.ts";
import { BreakView } from "./break.tsx";
import { Checks } from "./checks.tsx";

const COLUMNS: readonly Column<Models["Break"]>[] = [
  { title: "Break", text: ({ id }) => id, cell: ({ id }) => <BreakLink id={id} /> },
  { title: "Check", text: ({ check }) => check, cell: ({ check }) => words(check) },
  { title: "What differs", isWide: true, text: ({ message }) => message },
  accountColumn("Account", (row) => ({ login: row.login, isMaster: isOfMaster(row) })),
  masterColumn(({ master_login: login }) => login, "Stopped Master"),
  amountColumn("At risk", ({ at_risk: amount }) => amount, true),
  ageColumn(({ opened_at: at }) => at),
];

export function View({ path: [id] }: PageProps) {
  return id === undefined ? <All /> : <BreakView key={id} id={id} />;
}

function All() {
  const list = useList("listBreaks", {}, { topics: ["breaks"], isAscending: true });
  return (
    <>
      <h1>Breaks and checks</h1>
      <NotReached services={list.last?.unreachable} what="breaks and checks" />
      <ListSection
        title="Open breaks"
        columns={COLUMNS}
        list={list}
        empty="No check has found a difference that is still there."
      />
      {list.last !== undefined && <Checks checks={list.last.checks} refresh={list.refresh} />}
    </>
  );
}
