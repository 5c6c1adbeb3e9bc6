import type { Models } from "../../../client/index.ts";
import { Badge } from "../badge.tsx";
import { FeePaymentLink, FeeRunLink } from "../links.tsx";
import type { Column } from "../table/column.ts";
import { amountColumn, investorColumn, ticketColumn, timeColumn } from "../table/columns.tsx";

type Payment = Models["FeePayment"];

const OCCASIONS: readonly (readonly [RegExp, string])[] = [
  [/:W$/, "week"],
  [/:WD[^:]*$/, "withdrawal"],
  [/:UA[^:]*$/, "unassign"],
  [/:DEBT$/, "debt"],
  [/:IM[^:]*$/, "imported"],
];

/** What the fee was taken at, as its key says. */
export function occasionOf({ cashflow_unique_key: key }: Pick<Payment, "cashflow_unique_key">): string {
  return OCCASIONS.find(([pattern]) => pattern.test(key))?.[1] ?? "";
}

/** Columns of fee payments; `masterOf` names the Master, to which runs belong. */
export function paymentColumns<Row extends Payment>(masterOf: (row: Row) => string): readonly Column<Row>[] {
  return [
    timeColumn("Executed", ({ executed_at: at }) => at),
    { title: "Payment", isNumber: true, text: ({ id }) => id.toString(), cell: ({ id }) => <FeePaymentLink id={id} /> },
    {
      title: "Run",
      isNumber: true,
      text: ({ run_id: id }) => id.toString(),
      cell: (row) => <FeeRunLink id={row.run_id} master={masterOf(row)} />,
    },
    { title: "Taken at", text: occasionOf },
    investorColumn(({ investor_mt5_login: login }) => login),
    amountColumn("Amount", ({ amount }) => amount),
    { title: "Status", text: ({ status }) => status, cell: ({ status }) => <Badge state={status} /> },
    ticketColumn("Ticket", ({ mt5_op_id: id }) => id),
    { title: "Key", isWide: true, text: ({ cashflow_unique_key: key }) => key },
  ];
}
