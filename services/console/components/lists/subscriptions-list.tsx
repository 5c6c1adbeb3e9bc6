import type { Input, Models } from "../../../client/index.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../badge.tsx";
import type { Column } from "../table/column.ts";
import { investorColumn, masterColumn, timeColumn } from "../table/columns.tsx";
import { ListSection } from "../table/list-table.tsx";

type Subscription = Models["Subscription"];
type Of = Pick<NonNullable<Input<"listSubscriptionPages">["query"]>, "master_login" | "investor_login">;

const COLUMNS: readonly Column<Subscription>[] = [
  { title: "Subscription", isNumber: true, text: ({ id }) => id.toString() },
  investorColumn(({ investor_login: login }) => login),
  masterColumn(({ master_login: login }) => login),
  { title: "Status", text: ({ status }) => status, cell: ({ status }) => <Badge state={status} /> },
  { title: "In pool", text: ({ in_pool: isIn }) => (isIn ? "yes" : "no") },
  timeColumn("Started", ({ started_at: at }) => at),
  timeColumn("Ended", ({ ended_at: at }) => at),
];

/** Who follows a Master, or whom an Investor follows; ended subscriptions too. */
export function SubscriptionsList({ of, topic }: { readonly of: Of; readonly topic: `login:${string}` }) {
  const list = useList("listSubscriptionPages", { query: of }, { topics: [topic] });
  return <ListSection title="Subscriptions" columns={COLUMNS} list={list} empty="There was never a subscription." />;
}
