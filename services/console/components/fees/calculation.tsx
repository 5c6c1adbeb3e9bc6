import type { Models } from "../../../client/index.ts";
import { Facts } from "../facts.tsx";
import { Ticket } from "../links.tsx";
import { Money } from "../money.tsx";
import { Stack } from "../stack/stack.tsx";
import type { Column } from "../table/column.ts";
import { amountColumn, timeColumn } from "../table/columns.tsx";
import { TableSection } from "../table/table.tsx";
import { Section } from "../section.tsx";
import { Time } from "../time.tsx";
import { belowMark, type LayerRow, layersOf, partsOf } from "./layers.ts";
import { rateText } from "./rate.ts";

const COLUMNS: readonly Column<LayerRow>[] = [
  { title: "Layer", isNumber: true, text: ({ number }) => String(number) },
  timeColumn("Earned from", ({ earned_from: at }) => at),
  timeColumn("Earned to", ({ earned_to: at }) => at),
  amountColumn("Amount", ({ amount }) => amount),
  { title: "Rate", isNumber: true, text: ({ rate }) => rate ?? "", cell: ({ rate }) => rateText(rate) },
  amountColumn("Share", ({ share }) => share),
  { title: "Fee version", isNumber: true, text: ({ version_id: id }) => id?.toString() ?? "" },
  {
    title: "Charged",
    isWide: true,
    text: ({ isSpared }) => (isSpared ? "spared by an open loss" : "charged"),
  },
];

/** How a fee follows from the profit with one Master, to the last decimal. */
export function Calculation({ calculation }: { readonly calculation: Models["FeeCalculation"] }) {
  const below = belowMark(calculation);
  const { parts, whole } = partsOf(calculation);
  return (
    <>
      {below !== undefined && (
        <p>
          The result is <Money amount={below} /> below the high-water mark: no fee is due until it is above it again.
        </p>
      )}
      {parts.length > 0 && (
        <>
          <div class="ends">
            <span>
              High-water mark <Money amount={calculation.high_water_mark_before} />
            </span>
            <span>
              Result <Money amount={calculation.result} />
            </span>
          </div>
          <Stack title="Profit above the high-water mark" parts={parts} whole={whole} />
        </>
      )}
      <TableSection
        title="Layers of profit"
        columns={COLUMNS}
        rows={layersOf(calculation)}
        idOf={({ number }) => String(number)}
        empty="There is no profit above the high-water mark."
      />
      <Section title="Calculation">
        <Facts
          facts={[
            ["Decided", <Time at={calculation.at} isFocusable />],
            ["Last deal that counts", <Ticket id={calculation.through_deal_id} />],
            ["Time of this deal", <Time at={calculation.through_deal_at} isFocusable />],
            ["Result since the first assign", <Money amount={calculation.result} />],
            ["High-water mark before", <Money amount={calculation.high_water_mark_before} />],
            ["High-water mark after", <Money amount={calculation.high_water_mark_after} />],
            ["Share of open positions", <Money amount={calculation.floating} />],
            ["Marks read", <Time at={calculation.marked_at} isFocusable />],
            ...lateness(calculation.marked_late_seconds),
            ["Sum of the shares", <Money amount={calculation.exact_fee} />],
            ["Rounded off", <Money amount={calculation.rounded_off} />],
            [
              "Fee",
              <strong>
                <Money amount={calculation.fee} />
              </strong>,
            ],
            ["Debts before", <Money amount={calculation.debt_before} />],
          ]}
        />
      </Section>
    </>
  );
}

/** The same in sentences, as the API has them. */
export function Lines({ lines }: { readonly lines: readonly string[] }) {
  return (
    <ul class="lines">
      {lines.map((line, index) => (
        <li key={index}>{line}</li>
      ))}
    </ul>
  );
}

/** A week that was closed in time has no row. */
function lateness(seconds: bigint | null): [string, string][] {
  return seconds === null ? [] : [["Seconds after the cut-off", seconds.toString()]];
}
