import type { Models } from "../../../client/index.ts";
import { feeRunsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { FeePaymentLink, MasterLink } from "../../components/links.tsx";
import { occasionOf } from "../../components/lists/payment-columns.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, investorColumn, ticketColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { Time } from "../../components/time.tsx";
import { useList } from "../../data/use-list.ts";
import { useRead } from "../../data/use-read.ts";

type Run = Models["FeeRun"];
type Payment = Models["FeeRunPayment"];

const COLUMNS: readonly Column<Payment>[] = [
  { title: "Payment", isNumber: true, text: ({ id }) => id.toString(), cell: ({ id }) => <FeePaymentLink id={id} /> },
  investorColumn(({ investor_mt5_login: login }) => login),
  { title: "Status", text: ({ status }) => status, cell: ({ status }) => <Badge state={status} /> },
  amountColumn("Due", ({ due }) => due),
  amountColumn("Prepaid", ({ prepaid }) => prepaid),
  amountColumn("Collected", ({ amount }) => amount),
  timeColumn("Executed", ({ executed_at: at }) => at),
  ticketColumn("Ticket", ({ mt5_op_id: id }) => id),
  { title: "Taken at", text: occasionOf },
  { title: "Key", isWide: true, text: ({ cashflow_unique_key: key }) => key },
];

export function RunView({ id, master }: { readonly id: string; readonly master: string }) {
  return (
    <>
      <p class="trail">
        <a href={feeRunsHref(master === "" ? {} : { master_login: master })}>
          Fee runs{master === "" ? "" : ` of ${master}`}
        </a>
      </p>
      <h1>Fee run {id}</h1>
      {/^\d{1,18}$/.test(id) ? <Found id={BigInt(id)} /> : <Empty>{id} is not the number of a run.</Empty>}
    </>
  );
}

function Found({ id }: { readonly id: bigint }) {
  const run = useRead((client, signal) => client.query("getFeeRun", { path: { run_id: id } }, { signal }), {
    keys: [id],
    topics: ["fees"],
  });
  return (
    <Panel read={run} what="the run">
      {(found) => (
        <>
          <Sums run={found} />
          <Payments id={id} />
        </>
      )}
    </Panel>
  );
}

function Sums({ run }: { readonly run: Run }) {
  const { executed_count: executed, open_count: open, failed_count: failed } = run;
  return (
    <>
      <Facts
        isStrip
        facts={[
          ["Status", <Badge state={run.status} />],
          ["Master", <MasterLink id={run.master_login} />],
          ["Taken at", run.kind === "WEEKLY" ? "week" : "withdrawal or unassign"],
          ["Period from", <Time at={run.period_start} isFocusable />],
          ["Cut-off", <Time at={run.period_end} isFocusable />],
          ["Payments", `${run.payments_count}: ${executed} collected, ${open} open, ${failed} failed`],
          ["Due", <Money amount={run.due} />],
          ["Prepaid", <Money amount={run.prepaid} />],
          ["Collected", <Money amount={run.collected} />],
        ]}
      />
      {!run.is_decided && <p class="note">Fees of further Investors of the pool are still being calculated.</p>}
    </>
  );
}

function Payments({ id }: { readonly id: bigint }) {
  const list = useList("listFeeRunPayments", { path: { run_id: id } }, { topics: ["fees"], isAscending: true });
  return (
    <ListSection
      title="Payments"
      label={`Payments of run ${id}`}
      columns={COLUMNS}
      list={list}
      empty="No payment of this run was found: no Investor owed a fee."
    >
      <p class="note">
        The number of a payment opens its explanation. What is due and not collected became debt, or is still to be
        collected.
      </p>
    </ListSection>
  );
}
