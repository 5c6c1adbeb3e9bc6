import type { Models } from "../../../client/index.ts";
import { breaksHref } from "../../app/addresses.ts";
import { Empty } from "../../components/empty.tsx";
import { Evidence } from "../../components/evidence.tsx";
import { Facts } from "../../components/facts.tsx";
import { AccountLink, DealLink, MasterLink, OperationLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { Age, Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { findBreak } from "./find-break.ts";
import { isOfMaster } from "../reviews/is-master.ts";
import { WhatToDo } from "./what-to-do.tsx";

type Break = Models["Break"];

export function BreakView({ id }: { readonly id: string }) {
  const found = useRead((client, signal) => findBreak(client, id, signal).then((one) => ({ one })), {
    keys: [id],
    topics: ["breaks"],
  });
  return (
    <>
      <p class="trail">
        <a href={breaksHref()}>Breaks and checks</a>
      </p>
      <Panel read={found} what="the break">
        {({ one }) =>
          one === undefined ? (
            <>
              <h1>{id}</h1>
              <Empty>
                There is no such break any more: a later run of the check has not found the difference again.
              </Empty>
            </>
          ) : (
            <Shown found={one} />
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
        <section aria-labelledby="evidence-title">
          <h2 id="evidence-title">Values that were compared</h2>
          <Evidence evidence={found.evidence} />
        </section>
        <section aria-labelledby="facts-title">
          <h2 id="facts-title">Facts</h2>
          <Facts
            facts={[
              ["Break", id],
              ["Service", service],
              ["Subject", key],
              ["Account", <AccountLink login={login} isMaster={isOfMaster(found)} />],
              ["Stopped Master", <MasterLink id={master} />],
              ["At risk", <Money amount={atRisk} isAlarming />],
              [
                "Operations",
                found.operation_ids.length === 0
                  ? "–"
                  : found.operation_ids.map((one) => (
                      <div key={one}>
                        <OperationLink id={one} />
                      </div>
                    )),
              ],
              [
                "Deals",
                found.deal_ids.length === 0
                  ? "–"
                  : found.deal_ids.map((one) => (
                      <div key={one.toString()}>
                        <DealLink id={one} />
                      </div>
                    )),
              ],
              [
                "Found first",
                <>
                  <Time at={found.opened_at} isFocusable /> UTC, <Age since={found.opened_at} /> ago
                </>,
              ],
              [
                "Found last",
                <>
                  <Time at={found.seen_at} isFocusable /> UTC
                </>,
              ],
            ]}
          />
        </section>
      </div>
      <WhatToDo found={found} />
    </>
  );
}
