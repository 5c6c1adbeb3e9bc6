import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { rateText } from "../../components/fees/rate.ts";
import type { Column } from "../../components/table/column.ts";
import { timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";

type Version = Models["FeeVersion"];

const COLUMNS: readonly Column<Version>[] = [
  { title: "Version", isNumber: true, text: ({ id }) => id.toString() },
  { title: "Rate", isNumber: true, text: ({ rate }) => rate, cell: ({ rate }) => rateText(rate) },
  { title: "Fees", text: ({ enabled: isEnabled }) => (isEnabled ? "collected" : "switched off") },
  timeColumn("Effective since", ({ effective_since: at }) => at),
  timeColumn("Created", ({ created_at: at }) => at),
  { title: "State", isWide: true, text: ({ state }) => state, cell: ({ state }) => <Badge state={state} /> },
];

/** The rates on their timeline, the newest first. */
export function Versions({ login }: { readonly login: string }) {
  const list = useList("listFeeVersions", { path: { investor_login: login } }, { topics: [`login:${login}`] });
  return (
    <ListSection title="Fee versions" columns={COLUMNS} list={list} empty="The Investor has no fee configuration." />
  );
}
