import type { ComponentChildren } from "preact";
import type { Models } from "../../../client/index.ts";
import { feeRunHref, feeRunsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { Calculation, Lines } from "../../components/fees/calculation.tsx";
import { FeePaymentLink, InvestorLink, MasterLink } from "../../components/links.tsx";
import { occasionOf } from "../../components/lists/payment-columns.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, timeColumn } from "../../components/table/columns.tsx";
import { TableSection } from "../../components/table/table.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";

type Explanation = Models["FeePaymentExplanation"];
type DebtPart = Models["FeeDebtPart"];

const DEBT_PARTS: readonly Column<DebtPart>[] = [
  {
    title: "Payment",
    isNumber: true,
    text: ({ payment_id: id }) => id.toString(),
    cell: ({ payment_id: id }) => <FeePaymentLink id={id} />,
  },
  amountColumn("Amount", ({ amount }) => amount),
  timeColumn("Owed since", ({ owed_since: at }) => at),
];

/** Why a payment has its amount, to the cent. */
export function PaymentView({ id }: { readonly id: string }) {
  return /^\d{1,18}$/.test(id) ? <Found id={BigInt(id)} /> : <Empty>{id} is not the number of a payment.</Empty>;
}

function Found({ id }: { readonly id: bigint }) {
  const explanation = useRead(
    (client, signal) => client.query("getFeePaymentExplanation", { path: { payment_id: id } }, { signal }),
    { keys: [id], topics: ["fees"] },
  );
  const { data } = explanation;
  return (
    <>
      <p class="trail">
        {data === undefined ? (
          <a href={feeRunsHref()}>Fee runs</a>
        ) : (
          <a href={feeRunHref(data.run_id, data.master_login)}>Fee run {data.run_id.toString()}</a>
        )}
      </p>
      <h1>
        Fee payment {id.toString()} {data !== undefined && <Badge state={data.status} />}
      </h1>
      <Panel read={explanation} what="the explanation">
        {(found) => <Shown explanation={found} />}
      </Panel>
    </>
  );
}

function Shown({ explanation }: { readonly explanation: Explanation }) {
  const { calculation, flows, debt_parts: parts, missing } = explanation;
  return (
    <>
      {missing.length > 0 && (
        <div class="warning">
          This is not the whole explanation:
          <ul class="lines">
            {missing.map(({ code, detail }) => (
              <li key={code}>{detail}</li>
            ))}
          </ul>
        </div>
      )}
      <Sum {...explanation} />
      <Section title="In words">
        <Lines lines={explanation.lines} />
      </Section>
      {calculation !== null && <Calculation calculation={calculation} />}
      {parts.length > 0 && (
        <TableSection
          title="What the debt is made of"
          columns={DEBT_PARTS}
          rows={parts}
          idOf={({ payment_id: payment }) => payment.toString()}
          empty=""
        />
      )}
      {flows !== null && (
        <Section title="Flows since the fee before">
          <Facts
            isStrip
            facts={[
              ["After", flows.after === null ? "the first assign" : <Time at={flows.after} isFocusable />],
              ["Through", <Time at={flows.through} isFocusable />],
              ["In", <Money amount={flows.inflow} />],
              ["Out", <Money amount={flows.outflow} />],
            ]}
          />
          <p class="note">They change neither the result nor the high-water mark.</p>
        </Section>
      )}
    </>
  );
}

/** `due` less what was prepaid is what was collected and what became debt. */
function Sum(explanation: Explanation) {
  const { due, prepaid, amount, uncollected, kind } = explanation;
  const term = (name: string, value: string): ComponentChildren => (
    <span class="term">
      <span class="quiet">{name}</span> <Money amount={value} />
    </span>
  );
  return (
    <>
      <p class="sum">
        {term("Due", due)} − {term("prepaid", prepaid)} = {term("collected", amount)} +{" "}
        {term("uncollected", uncollected)}
      </p>
      <Facts
        isStrip
        facts={[
          ["Investor", <InvestorLink id={explanation.investor_login} />],
          ["Master", <MasterLink id={explanation.master_login} />],
          ["Kind", kind === "PF" ? "performance fee" : "debt of an earlier fee"],
          ["Taken at", occasionOf(explanation)],
          ["Executed", <Time at={explanation.executed_at} isFocusable />],
          ["Period from", <Time at={explanation.run_period_start} isFocusable />],
          ["Period to", <Time at={explanation.run_period_end} isFocusable />],
          ["Key", <span class="code">{explanation.cashflow_unique_key}</span>],
        ]}
      />
    </>
  );
}
