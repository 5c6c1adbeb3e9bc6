import type { ComponentChild } from "preact";
import type { Models } from "../../../client/index.ts";
import { breaksHref } from "../../app/addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Evidence } from "../../components/evidence.tsx";
import { Facts } from "../../components/facts.tsx";
import { AccountLink, DealLink, MasterLink, OperationLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { Section } from "../../components/section.tsx";
import { Since, Time } from "../../components/time.tsx";
import { orNone } from "../../data/or-none.ts";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { isOfMaster } from "../reviews/is-master.ts";
import { WhatToDo } from "./what-to-do.tsx";

type Break = Models["Break"];

export function BreakView({ id }: { readonly id: string }) {
  const read = useRead(
    (client, signal) => orNone(client.query("getBreak", { path: { break_id: id } }, { signal }), "break_not_found"),
    { keys: [id], topics: ["breaks"] },
  );
  return (
    <>
      <p class="trail">
        <a href={breaksHref()}>Breaks and checks</a>
      </p>
      <Panel read={read} what="the break">
        {({ found }) =>
          found === undefined ? (
            <>
              <h1>{id}</h1>
              <Empty>
                There is no such break any more: a later run of the check has not found the difference again.
              </Empty>
            </>
          ) : (
            <Shown found={found} />
          )
        }
      </Panel>
    </>
  );
}

function Shown({ found }: { readonly found: Break }) {
  const { id, service, check, key, login, master_login: master, at_risk: atRisk, message } = found;
  return (
    <>
      <h1>{sentence(check)}</h1>
      <p>{message}</p>
      <div class="columns">
        <Section title="Values that were compared">
          <Evidence evidence={found.evidence} />
        </Section>
        <Section title="Facts">
          <Facts
            facts={[
              ["Break", id],
              ["Service", service],
              ["Subject", key],
              ["Account", <AccountLink login={login} isMaster={isOfMaster(found)} />],
              ["Stopped Master", <MasterLink id={master} />],
              ["At risk", <Money amount={atRisk} isAlarming />],
              ["Operations", linesOf(found.operation_ids.map((one) => <OperationLink id={one} />))],
              ["Deals", linesOf(found.deal_ids.map((one) => <DealLink id={one} />))],
              ["Found first", <Since at={found.opened_at} />],
              ["Found last", <Time at={found.seen_at} isFocusable />],
            ]}
          />
        </Section>
      </div>
      <WhatToDo found={found} />
    </>
  );
}

function linesOf(links: readonly ComponentChild[]): ComponentChild {
  return links.length === 0 ? "–" : links.map((link) => <div>{link}</div>);
}
