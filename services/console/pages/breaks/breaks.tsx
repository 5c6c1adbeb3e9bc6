import type { Models } from "../../../client/index.ts";
import { BreakLink, InvestorLink, MasterLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import type { Column } from "../../components/table/column.ts";
import { ListTable } from "../../components/table/list-table.tsx";
import { Age } from "../../components/time.tsx";
import type { List } from "../../data/use-list.ts";
import { utcText } from "../../formats/time.ts";
import { words } from "../../formats/words.ts";

type Break = Models["Break"];

const COLUMNS: readonly Column<Break>[] = [
  { title: "Break", text: ({ id }) => id, cell: ({ id }) => <BreakLink id={id} /> },
  { title: "Check", text: ({ check }) => check, cell: ({ check }) => words(check) },
  { title: "What differs", isWide: true, text: ({ message }) => message },
  { title: "Account", text: ({ login }) => login ?? "", cell: ({ login }) => <InvestorLink id={login} /> },
  {
    title: "Stopped Master",
    text: ({ master_login: login }) => login ?? "",
    cell: ({ master_login: login }) => <MasterLink id={login} />,
  },
  {
    title: "At risk",
    isNumber: true,
    text: ({ at_risk: amount }) => amount,
    cell: ({ at_risk: amount }) => <Money amount={amount} isAlarming />,
  },
  {
    title: "Age",
    isNumber: true,
    text: ({ opened_at: at }) => utcText(at),
    cell: ({ opened_at: at }) => <Age since={at} />,
  },
];

export function Breaks({ list }: { readonly list: List<Break> }) {
  return (
    <section aria-labelledby="breaks-title">
      <h2 id="breaks-title">Open breaks</h2>
      <ListTable
        label="Open breaks"
        columns={COLUMNS}
        list={list}
        idOf={({ id }) => id}
        empty="No check has found a difference that is still there."
      />
    </section>
  );
}
