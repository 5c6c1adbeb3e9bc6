import type { Models } from "../../../client/index.ts";
import { operationsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Facts } from "../../components/facts.tsx";
import { InvestorLink, MasterLink, Ticket } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { ReadState } from "../../components/read-state.tsx";
import { Section } from "../../components/section.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { can } from "../../session/session.ts";
import { Cases } from "./cases.tsx";
import { Timeline } from "./timeline.tsx";

type Operation = Models["Operation"];

export const MEANINGS: Readonly<Record<Operation["outcome"], string>> = {
  pending: "It is in progress.",
  executed: "It was executed.",
  not_executed: "It was not executed, and no deal will come.",
  unknown:
    "It is not known yet whether it was executed. The search goes on for as long as the trading platform does not answer.",
  review: "Manual review decides what became of it.",
};

export function OperationView({ id }: { readonly id: string }) {
  const operation = useRead(
    (client, signal) => client.query("getOperation", { path: { operation_id: id } }, { signal }),
    { keys: [id], topics: [`operation:${id}`] },
  );
  return (
    <>
      <p class="trail">
        <a href={operationsHref()}>Operations</a>
      </p>
      <Panel read={operation} what="the operation">
        {(found) => <Shown operation={found} />}
      </Panel>
    </>
  );
}

function Shown({ operation }: { readonly operation: Operation }) {
  const attempts = useRead(
    (client, signal) => client.query("listAttempts", { path: { operation_id: operation.id } }, { signal }),
    { keys: [operation.id, operation.outcome], topics: [`operation:${operation.id}`] },
  );
  const { id, action, login, master_login: master, amount, outcome, comment, external_id: externalId } = operation;
  return (
    <>
      <h1>
        {sentence(action)} {amount !== null && <Money amount={amount} />} <Badge state={outcome} />
      </h1>
      <p>
        {MEANINGS[outcome]}
        {operation.refusal !== null && (
          <>
            {" "}
            Reason:{" "}
            <a href={`/docs/problems/${encodeURIComponent(operation.refusal)}`} target="_blank" rel="noreferrer">
              {operation.refusal}
            </a>
            .
          </>
        )}
      </p>
      <div class="columns">
        <Section title="What happened">
          <Timeline operation={operation} attempts={attempts.data?.items ?? []} />
          <ReadState read={attempts} what="what was sent" />
          {attempts.data?.is_complete === false && (
            <p class="quiet">Fees or mirrors cannot be read now, so their attempts are missing.</p>
          )}
        </Section>
        <Section title="Facts">
          <Facts
            facts={[
              ["Operation", <span class="code">{id}</span>],
              ["Investor", <InvestorLink id={login} />],
              ["Master", <MasterLink id={master} />],
              [
                "Amount",
                amount === null ? (
                  "–"
                ) : (
                  <>
                    <Money amount={amount} /> {operation.currency}
                  </>
                ),
              ],
              ["Ticket", <Ticket id={operation.deal_id} />],
              ["Reference", <span class="code">{operation.reference ?? "–"}</span>],
              ["Comment", comment ?? "–"],
              ["Your id", externalId ?? "–"],
              ["Requested", <Time at={operation.requested_at} isFocusable />],
              ["Recorded", <Time at={operation.created_at} isFocusable />],
              ["Finished", <Time at={operation.finished_at} isFocusable />],
              operation.imported && ["Imported", "made anew from the deal after a restore of the database"],
              ...Object.entries(operation.metadata).map(([name, value]) => [name, value] as const),
            ]}
          />
          {can("ops") && <Cases id={id} />}
        </Section>
      </div>
    </>
  );
}
