import { masterHref, mastersHref } from "../../app/addresses.ts";
import { Badge, type Tone } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { OperationsList } from "../../components/lists/operations-list.tsx";
import { SubscriptionsList } from "../../components/lists/subscriptions-list.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { Views } from "../../components/views.tsx";
import { type Read, useRead } from "../../data/use-read.ts";
import { can, type Scope } from "../../session/session.ts";
import { MasterFees } from "./fees.tsx";
import { type FoundMaster, findMaster } from "./find-master.ts";
import { Performance } from "./performance.tsx";
import { Pool } from "./pool.tsx";

type Props = { readonly login: string; readonly view: string | undefined; readonly query: URLSearchParams };

const VIEWS: readonly { readonly name: string; readonly title: string; readonly anyOf: readonly Scope[] }[] = [
  { name: "performance", title: "Performance", anyOf: ["masters:read"] },
  { name: "pool", title: "Pool and proof", anyOf: ["subscriptions:read"] },
  { name: "fees", title: "Fees", anyOf: ["fees:read"] },
  { name: "subscriptions", title: "Subscriptions", anyOf: ["subscriptions:read"] },
  {
    name: "operations",
    title: "Flows",
    anyOf: ["investors:read", "funds:deposit", "funds:withdraw", "subscriptions:write"],
  },
];

export function MasterView({ login, view, query }: Props) {
  const isPermitted = can("masters:read");
  const master = useRead((client, signal) => findMaster(client, login, signal), {
    keys: [login],
    topics: ["masters"],
    isPermitted,
  });
  const shown = VIEWS.filter(({ anyOf }) => can(...anyOf));
  const current = shown.find(({ name }) => name === view) ?? shown[0];
  const found = master.data;
  return (
    <>
      <p class="trail">
        <a href={mastersHref()}>Masters</a>
      </p>
      <h1>
        {found?.name ?? "Master"} <span class="code">{login}</span>{" "}
        {found !== undefined && <Badge state={found.state} tone={TONES[found.state]} />}
      </h1>
      <ReadState read={{ ...master, data: master.data ?? (master.isLoading ? undefined : null) }} what="the Master" />
      {isPermitted && !master.isLoading && master.problem === undefined && found === undefined ? (
        <Empty>There is no Master with this login.</Empty>
      ) : (
        <>
          <Views
            label="Parts of the Master"
            current={current?.name}
            views={shown.map(({ name, title }) => ({ name, title, href: masterHref(login, name) }))}
          />
          <Part name={current?.name} login={login} query={query} master={master} />
        </>
      )}
    </>
  );
}

const TONES: Readonly<Record<FoundMaster["state"], Tone>> = {
  open: "good",
  not_accepting: "waiting",
  closing: "warn",
  archived: "quiet",
};

type PartProps = {
  readonly name: string | undefined;
  readonly login: string;
  readonly query: URLSearchParams;
  readonly master: Read<FoundMaster | undefined>;
};

function Part({ name, login, query, master }: PartProps) {
  const of = { master_login: login };
  const topic = `login:${login}` as const;
  switch (name) {
    case "performance":
      return <Performance login={login} query={query} master={master.data} />;
    case "pool":
      return <Pool login={login} />;
    case "fees":
      return <MasterFees login={login} query={query} master={master.data} />;
    case "subscriptions":
      return <SubscriptionsList of={of} topic={topic} />;
    case "operations":
      return <OperationsList of={of} topic={topic} />;
    default:
      return null;
  }
}
