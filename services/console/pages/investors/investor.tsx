import { investorHref, investorsHref } from "../../app/addresses.ts";
import { OperationsList } from "../../components/lists/operations-list.tsx";
import { SubscriptionsList } from "../../components/lists/subscriptions-list.tsx";
import { Views } from "../../components/views.tsx";
import { useRead } from "../../data/use-read.ts";
import { can, type Scope } from "../../session/session.ts";
import { Allocations } from "./allocations.tsx";
import { EquityView } from "./equity.tsx";
import { InvestorFees } from "./fees.tsx";
import { StatementView } from "./statement.tsx";

type Props = { readonly login: string; readonly view: string | undefined; readonly query: URLSearchParams };

const VIEWS: readonly { readonly name: string; readonly title: string; readonly scope: Scope }[] = [
  { name: "equity", title: "Equity", scope: "investors:read" },
  { name: "statement", title: "Statement", scope: "investors:read" },
  { name: "allocations", title: "Allocations", scope: "investors:read" },
  { name: "fees", title: "Fees", scope: "fees:read" },
  { name: "subscriptions", title: "Subscriptions", scope: "subscriptions:read" },
  { name: "operations", title: "Operations", scope: "investors:read" },
];

export function InvestorView({ login, view, query }: Props) {
  const shown = VIEWS.filter(({ scope }) => can(scope));
  const current = shown.find(({ name }) => name === view) ?? shown[0];
  return (
    <>
      <p class="trail">
        <a href={investorsHref()}>Investors</a>
      </p>
      <h1>
        <Name login={login} /> <span class="code">{login}</span>
      </h1>
      <Views
        label="Parts of the Investor"
        current={current?.name}
        views={shown.map(({ name, title }) => ({ name, title, href: investorHref(login, name) }))}
      />
      <Part name={current?.name} login={login} query={query} />
    </>
  );
}

/** The API reads a name by the id of the Investor, which its fee configuration has. */
function Name({ login }: { readonly login: string }) {
  const name = useRead(
    async (client, signal) => {
      const path = { investor_login: login };
      const { investor_id: id } = await client.query("getFeeConfiguration", { path }, { signal });
      return (await client.query("getInvestor", { path: { investor_id: id } }, { signal })).name;
    },
    { keys: [login], isPermitted: can("fees:read") },
  );
  return <>{name.data ?? "Investor"}</>;
}

type PartProps = Omit<Props, "view"> & { readonly name: string | undefined };

function Part({ name, login, query }: PartProps) {
  const topic = `login:${login}` as const;
  switch (name) {
    case "equity":
      return <EquityView login={login} />;
    case "statement":
      return <StatementView login={login} query={query} />;
    case "allocations":
      return <Allocations login={login} />;
    case "fees":
      return <InvestorFees login={login} />;
    case "subscriptions":
      return <SubscriptionsList of={{ investor_login: login }} topic={topic} />;
    case "operations":
      return <OperationsList of={{ login }} topic={topic} />;
    default:
      return null;
  }
}
