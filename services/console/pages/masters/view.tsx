import type { Models } from "../../../client/index.ts";
import { masterHref, mastersHref } from "../../app/addresses.ts";
import { accountFilterOf, AccountSearch } from "../../components/account-search.tsx";
import { Empty } from "../../components/empty.tsx";
import type { Column } from "../../components/table/column.ts";
import { amountColumn, masterColumn, timeColumn } from "../../components/table/columns.tsx";
import { ListTable } from "../../components/table/list-table.tsx";
import { useList } from "../../data/use-list.ts";
import { can } from "../../session/session.ts";
import type { PageProps } from "../page.ts";
import { MasterView } from "./master.tsx";

type Master = Models["MasterProfile"];

const COLUMNS: readonly Column<Master>[] = [
  masterColumn(({ mt5_login: login }) => login),
  { title: "Name", text: ({ name }) => name },
  { title: "Strategy", isWide: true, text: ({ strategy_name: name }) => name },
  { title: "Investors", isNumber: true, text: ({ investors_count: count }) => count.toString() },
  amountColumn("Minimum deposit", ({ min_deposit: amount }) => amount),
  { title: "Payment account", text: ({ payment_account_login: login }) => login },
  { title: "Your id", text: ({ external_id: id }) => id ?? "" },
  timeColumn("Registered", ({ created_at: at }) => at),
];

export function View({ path: [login, view], query }: PageProps) {
  if (login === undefined) return <All query={query} />;
  return <MasterView key={login} login={login} view={view} query={query} />;
}

function All({ query }: { readonly query: URLSearchParams }) {
  return (
    <>
      <h1>Masters</h1>
      <AccountSearch label="Masters" query={query} hrefOf={mastersHref} loginHref={masterHref} />
      {can("masters:read") ? (
        <Found query={query} />
      ) : (
        <Empty>The key may not list Masters. Open one by its login.</Empty>
      )}
    </>
  );
}

function Found({ query }: { readonly query: URLSearchParams }) {
  const filter = accountFilterOf(query);
  const list = useList(
    "listMasterProfiles",
    { query: filter },
    { topics: ["masters", "subscriptions"], isAscending: true, idOf: ({ mt5_login: login }) => login },
  );
  return (
    <ListTable
      label="Masters"
      columns={COLUMNS}
      list={list}
      empty={Object.keys(filter).length > 0 ? "No Master matches." : "There is no Master yet."}
    />
  );
}
