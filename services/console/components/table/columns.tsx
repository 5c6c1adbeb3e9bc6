import { CHANGE_DECIMALS, formatRatio } from "../../formats/decimal.ts";
import { utcText } from "../../formats/time.ts";
import { AccountLink, InvestorLink, MasterLink, OperationLink, Ticket } from "../links.tsx";
import { Money } from "../money.tsx";
import { Age, Time } from "../time.tsx";
import type { Column } from "./column.ts";

/** Columns that many tables have. */
export function amountColumn<Row>(
  title: string,
  of: (row: Row) => string | null | undefined,
  isAlarming = false,
): Column<Row> {
  return {
    title,
    isNumber: true,
    text: (row) => of(row) ?? "",
    cell: (row) => <Money amount={of(row)} isAlarming={isAlarming} />,
  };
}

/** A change or drawdown as a percentage. */
export function changeColumn<Row>(title: string, of: (row: Row) => string | null): Column<Row> {
  return {
    title,
    isNumber: true,
    text: (row) => of(row) ?? "",
    cell: (row) => {
      const ratio = of(row);
      return ratio === null ? "–" : formatRatio(ratio, CHANGE_DECIMALS);
    },
  };
}

export function timeColumn<Row>(title: string, of: (row: Row) => string | null): Column<Row> {
  return {
    title,
    text: (row) => {
      const at = of(row);
      return at === null ? "" : utcText(at);
    },
    cell: (row) => <Time at={of(row)} />,
  };
}

export function masterColumn<Row>(of: (row: Row) => string | null, title = "Master"): Column<Row> {
  return { title, text: (row) => of(row) ?? "", cell: (row) => <MasterLink id={of(row)} /> };
}

export function investorColumn<Row>(of: (row: Row) => string | null, title = "Investor"): Column<Row> {
  return { title, text: (row) => of(row) ?? "", cell: (row) => <InvestorLink id={of(row)} /> };
}

/** Of an account whose role the row knows, or not. */
export function accountColumn<Row>(
  title: string,
  of: (row: Row) => { readonly login: string | null; readonly isMaster: boolean },
): Column<Row> {
  return { title, text: (row) => of(row).login ?? "", cell: (row) => <AccountLink {...of(row)} /> };
}

export function operationColumn<Row>(of: (row: Row) => string | null): Column<Row> {
  return { title: "Operation", text: (row) => of(row) ?? "", cell: (row) => <OperationLink id={of(row)} /> };
}

export function ageColumn<Row>(of: (row: Row) => string): Column<Row> {
  return { title: "Age", isNumber: true, text: (row) => utcText(of(row)), cell: (row) => <Age since={of(row)} /> };
}

export function ticketColumn<Row>(title: string, of: (row: Row) => bigint | null): Column<Row> {
  return {
    title,
    isNumber: true,
    text: (row) => of(row)?.toString() ?? "",
    cell: (row) => <Ticket id={of(row)} />,
  };
}
