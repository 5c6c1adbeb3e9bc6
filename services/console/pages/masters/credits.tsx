import type { Models } from "../../../client/index.ts";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, investorColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";

type Credit = Models["PaymentCredit"];

const KINDS: Readonly<Record<Credit["kind"], string>> = { PF: "fee", PF_DEBT: "debt" };

const COLUMNS: readonly Column<Credit>[] = [
  timeColumn("Deal", ({ mt5_ts: at }) => at),
  { title: "Credit", isNumber: true, text: ({ id }) => id.toString() },
  { title: "Kind", text: ({ kind }) => KINDS[kind] },
  investorColumn(({ investor_mt5_login: login }) => login),
  amountColumn("Amount", ({ amount }) => amount),
  ticketColumn("Ticket", ({ mt5_op_id: id }) => id),
  { title: "Payment account", isWide: true, text: ({ master_payment_login: login }) => login },
];

/** What the payment account of the Master has received. */
export function Credits({ login }: { readonly login: string }) {
  const list = useList(
    "listPaymentCredits",
    { query: { master_login: login } },
    { topics: [`login:${login}`], isAscending: true },
  );
  return (
    <ListSection
      title="Credits of the payment account"
      columns={COLUMNS}
      list={list}
      empty="The payment account has received nothing yet."
    />
  );
}
