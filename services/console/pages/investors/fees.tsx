import { useMemo } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { paymentColumns } from "../../components/lists/payment-columns.tsx";
import { masterColumn } from "../../components/table/columns.tsx";
import { ListSection } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { Marks } from "./marks.tsx";
import { Pending } from "./pending.tsx";
import { Versions } from "./versions.tsx";

type Payment = Models["FeePaymentToMaster"];

const COLUMNS = [
  ...paymentColumns<Payment>(({ master_login: login }) => login),
  masterColumn<Payment>(({ master_login: login }) => login),
].filter(({ title }) => title !== "Investor");

/** What would be due now, how the high-water mark came to be where it is, what was paid, and the rates. */
export function InvestorFees({ login }: { readonly login: string }) {
  const list = useList(
    "listFeePaymentsOfInvestor",
    { path: { investor_login: login } },
    { topics: [`login:${login}`] },
  );
  const newest = useMemo(() => list.items.map(({ id }) => id), [list.items]);
  return (
    <>
      <Pending login={login} />
      <Marks paymentIds={newest} />
      <ListSection title="Fee payments" columns={COLUMNS} list={list} empty="The Investor has paid no fee yet." />
      <Versions login={login} />
    </>
  );
}
