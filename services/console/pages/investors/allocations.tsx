import type { Models } from "../../../client/index.ts";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, masterColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { formatAmount, partOf } from "../../formats/decimal.ts";
import { words } from "../../formats/words.ts";

type Allocation = Models["Allocation"];

/** More than a cent, so that it is seen what rounding has carried over. */
const DECIMALS = 6;

/** `600.00 × 1,000.00 ÷ 6,000.00 = 100.00` */
export function arithmeticOf({ deal_result: result, units, pool_units: all }: Allocation): string {
  const exact = partOf(result, units, all, DECIMALS);
  const terms = `${formatAmount(result)} × ${formatAmount(units)} ÷ ${formatAmount(all)}`;
  return exact === undefined ? terms : `${terms} = ${formatAmount(exact)}`;
}

function correctionOf({ correction }: Allocation): string {
  if (correction === null) return "";
  const booked = correction.amount === null ? "nothing booked" : `${formatAmount(correction.amount)} booked`;
  return `${words(correction.kind)}, ${booked}`;
}

const COLUMNS: readonly Column<Allocation>[] = [
  timeColumn("Allocated", ({ allocated_at: at }) => at),
  masterColumn(({ master_login: login }) => login),
  { title: "Result", isNumber: true, text: ({ number }) => number.toString() },
  ticketColumn("Deal", ({ deal_id: id }) => id),
  timeColumn("Time of deal", ({ deal_at: at }) => at),
  amountColumn("Amount", ({ amount }) => amount),
  { title: "Deal result × units ÷ units of the pool", isNumber: true, text: arithmeticOf },
  { title: "Correction", isWide: true, text: correctionOf },
];

/** The part of the Investor in each result, newest first, with its arithmetic. */
export function Allocations({ login }: { readonly login: string }) {
  const list = useList(
    "listAllocations",
    { path: { investor_login: login } },
    {
      topics: [`login:${login}`, "mirrors"],
      idOf: ({ subscription_id: subscription, number }) => `${subscription} ${number}`,
    },
  );
  return (
    <ListSection title="Allocations" columns={COLUMNS} list={list} empty="No result was allocated to the Investor yet.">
      <p class="note">
        Amounts are whole cents: the rest of a division is carried to the next result. Parts of 0.00 are left out.
      </p>
    </ListSection>
  );
}
