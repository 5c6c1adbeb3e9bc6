import type { Models } from "../../../client/index.ts";
import { Calculation, Lines } from "../../components/fees/calculation.tsx";
import { Figure } from "../../components/figure.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, masterColumn, timeColumn } from "../../components/table/columns.tsx";
import { TableSection } from "../../components/table/table.tsx";
import { useRead } from "../../data/use-read.ts";
import { Section } from "../../components/section.tsx";

type Debt = Models["PendingFee"]["debts"][number];

const DEBTS: readonly Column<Debt>[] = [
  masterColumn(({ master_login: login }) => login),
  amountColumn("Amount", ({ amount }) => amount),
  timeColumn("Owed since", ({ owed_since: at }) => at),
];

/** What would be collected if everything were crystallised now, with its layers. */
export function Pending({ login }: { readonly login: string }) {
  const pending = useRead(
    (client, signal) => client.query("getPendingFee", { path: { investor_login: login } }, { signal }),
    { keys: [login], topics: [`login:${login}`] },
  );
  return (
    <Section title="Pending fee">
      <Panel read={pending} what="the pending fee">
        {(found) => (
          <>
            <dl class="figures" aria-label="Pending fee">
              <Figure name="Pending" value={<Money amount={found.pending} />} note="fee and debt, less prepaid" />
              <Figure name="Fee" value={<Money amount={found.fee} />} note="on profit above the high-water mark" />
              <Figure name="Debt" value={<Money amount={found.debt} />} note="to all Masters" />
              <Figure name="Prepaid" value={<Money amount={found.prepaid} />} note="before a restore" />
              <Figure
                name="Closed weeks"
                value={<Money amount={found.open_weekly} />}
                note="decided, being collected"
              />
            </dl>
            <Lines lines={found.lines} />
            {found.calculation !== null && <Calculation calculation={found.calculation} />}
            {found.debts.length > 0 && (
              <TableSection
                title="Debts"
                columns={DEBTS}
                rows={found.debts}
                idOf={({ master_login: master, owed_since: since }) => `${master} ${since}`}
                empty=""
              />
            )}
          </>
        )}
      </Panel>
    </Section>
  );
}
