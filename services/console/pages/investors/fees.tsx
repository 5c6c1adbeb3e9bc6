import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { paymentColumns } from "../../components/lists/payment-columns.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { masterColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { Marks } from "./marks.tsx";
import { Pending } from "./pending.tsx";
import { Versions } from "./versions.tsx";

type Payment = Models["FeePaymentToMaster"];

const LIMIT = 100;

const COLUMNS = [
  ...paymentColumns<Payment>(({ master_login: login }) => login),
  masterColumn<Payment>(({ master_login: login }) => login),
].filter(({ title }) => title !== "Investor");

/** What would be due now, how the high-water mark came to be where it is, what was paid, and the rates. */
export function InvestorFees({ login }: { readonly login: string }) {
  const list = useList({
    keys: [login],
    topics: [`login:${login}`],
    idOf: ({ id }: Payment) => id.toString(),
    page: (client, cursor: bigint | undefined, signal) => {
      const query = { limit: LIMIT, ...(cursor === undefined ? {} : { cursor }) };
      return client.query("listFeePaymentsOfInvestor", { path: { investor_login: login }, query }, { signal });
    },
  });
  const newest = useMemo(() => list.items.map(({ id }) => id), [list.items]);
  return (
    <>
      <Pending login={login} />
      <Marks paymentIds={newest} />
      <section aria-labelledby="payments-title">
        <h2 id="payments-title">Fee payments</h2>
        <ReadState read={{ ...list, data: list.items }} what="fee payments" />
        <ListTable
          label="Fee payments"
          columns={COLUMNS}
          list={list}
          idOf={({ id }) => id.toString()}
          empty="The Investor has paid no fee yet."
        />
      </section>
      <Versions login={login} />
    </>
  );
}
