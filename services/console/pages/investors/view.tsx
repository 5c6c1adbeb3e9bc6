import type { Models } from "../../../client/index.ts";
import { investorHref, investorsHref } from "../../app/addresses.ts";
import { accountFilterOf, AccountSearch } from "../../components/account-search.tsx";
import type { Column } from "../../components/table/column.ts";
import { investorColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import type { PageProps } from "../page.ts";
import { InvestorView } from "./investor.tsx";

type Investor = Models["InvestorProfile"];

const COLUMNS: readonly Column<Investor>[] = [
  investorColumn(({ mt5_login: login }) => login),
  { title: "Name", isWide: true, text: ({ name }) => name },
  { title: "Email", text: ({ email }) => email ?? "" },
  { title: "Your id", text: ({ external_id: id }) => id ?? "" },
  timeColumn("Registered", ({ created_at: at }) => at),
];

export function View({ path: [login, view], query }: PageProps) {
  if (login === undefined) return <All query={query} />;
  return <InvestorView key={login} login={login} view={view} query={query} />;
}

function All({ query }: { readonly query: URLSearchParams }) {
  const filter = accountFilterOf(query);
  const list = useList(
    "listInvestorProfiles",
    { query: filter },
    { isAscending: true, idOf: ({ mt5_login: login }) => login },
  );
  return (
    <>
      <h1>Investors</h1>
      <AccountSearch label="Investors" query={query} hrefOf={investorsHref} loginHref={investorHref} />
      <ListTable
        label="Investors"
        columns={COLUMNS}
        list={list}
        empty={Object.keys(filter).length > 0 ? "No Investor matches." : "There is no Investor yet."}
      />
    </>
  );
}
