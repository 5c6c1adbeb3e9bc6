import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { feeRunsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { Facts } from "../../components/facts.tsx";
import { MasterLink } from "../../components/links.tsx";
import { paymentColumns } from "../../components/lists/payment-columns.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { Table } from "../../components/table/table.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { runsOf } from "./group.ts";
import { readRun } from "./read-run.ts";

type Payment = Models["FeePayment"];
type Props = { readonly id: string; readonly master: string };

export function RunView({ id, master }: Props) {
  const isNumber = /^\d{1,18}$/.test(id);
  const run = useRead(
    async (client, signal) =>
      isNumber ? readRun(client, master, BigInt(id), signal) : { payments: [], isWhole: true },
    { keys: [id, master], topics: ["fees"] },
  );
  return (
    <>
      <p class="trail">
        <a href={feeRunsHref({ master_login: master })}>Fee runs of {master}</a>
      </p>
      <h1>Fee run {id}</h1>
      <Panel read={run} what="the run">
        {({ payments, isWhole }) => <Shown payments={payments} isWhole={isWhole} master={master} />}
      </Panel>
    </>
  );
}

type ShownProps = { readonly payments: readonly Payment[]; readonly isWhole: boolean; readonly master: string };

function Shown({ payments, isWhole, master }: ShownProps) {
  const columns = useMemo(() => paymentColumns<Payment>(() => master).filter(({ title }) => title !== "Run"), [master]);
  const [run] = runsOf(payments);
  if (run === undefined) {
    return (
      <Empty>
        No payment of this run was found{isWhole ? "" : " among the newest ones"}. Payments of 0.00 are not listed.
      </Empty>
    );
  }
  return (
    <>
      <Facts
        isStrip
        facts={[
          ["Status", <Badge state={run.status} />],
          ["Master", <MasterLink id={master} />],
          ["Taken at", run.takenAt],
          ["Period from", <Time at={run.periodStart} isFocusable />],
          ["Period to", <Time at={run.periodEnd} isFocusable />],
          ["Payments", String(run.payments)],
          ["Collected", <Money amount={run.sum} />],
        ]}
      />
      <section aria-labelledby="payments-title">
        <h2 id="payments-title">Payments</h2>
        <Table
          label={`Payments of run ${run.id}`}
          columns={columns}
          rows={payments}
          idOf={({ id }) => id.toString()}
          empty=""
        />
        <p class="note">The number of a payment opens its explanation. Payments of 0.00 are not listed.</p>
        {!isWhole && (
          <p class="warning">Only the newest payments of the Master were read: some of this run may be missing.</p>
        )}
      </section>
    </>
  );
}
