import type { Input, Models } from "../../../client/index.ts";
import { useList } from "../../data/use-list.ts";
import { Badge } from "../badge.tsx";
import { ReadState } from "../read-state.tsx";
import type { Column } from "../table/column.ts";
import { investorColumn, masterColumn, timeColumn } from "../table/columns.tsx";
import { ListTable } from "../table/list-table.tsx";

type Subscription = Models["Subscription"];
type Of = Pick<NonNullable<Input<"listSubscriptionPages">["query"]>, "master_login" | "investor_login">;

const LIMIT = 100;

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
  const list = useList({
    keys: [topic],
    topics: [topic],
    idOf: ({ id }: Subscription) => id.toString(),
    page: (client, cursor: string | undefined, signal) =>
      client.query(
        "listSubscriptionPages",
        { query: { ...of, limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) } },
        { signal },
      ),
  });
  return (
    <section aria-labelledby="subscriptions-title">
      <h2 id="subscriptions-title">Subscriptions</h2>
      <ReadState read={{ ...list, data: list.items }} what="subscriptions" />
      <ListTable
        label="Subscriptions"
        columns={COLUMNS}
        list={list}
        idOf={({ id }) => id.toString()}
        empty="There was never a subscription."
      />
    </section>
  );
}
