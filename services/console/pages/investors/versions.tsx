import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { rateText } from "../../components/fees/rate.ts";
import { ReadState } from "../../components/read-state.tsx";
import type { Column } from "../../components/table/column.ts";
import { timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";

type Version = Models["FeeVersion"];

const LIMIT = 100;

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
  const list = useList({
    keys: [login],
    topics: [`login:${login}`],
    idOf: ({ id }: Version) => id.toString(),
    page: (client, cursor: bigint | undefined, signal) => {
      const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      return client.query("listFeeVersions", { path: { investor_login: login }, query }, { signal });
    },
  });
  return (
    <section aria-labelledby="versions-title">
      <h2 id="versions-title">Fee versions</h2>
      <ReadState read={{ ...list, data: list.items }} what="fee versions" />
      <ListTable
        label="Fee versions"
        columns={COLUMNS}
        list={list}
        idOf={({ id }) => id.toString()}
        empty="The Investor has no fee configuration."
      />
    </section>
  );
}
