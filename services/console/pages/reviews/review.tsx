import type { Models } from "../../../client/index.ts";
import { reviewsHref } from "../../app/addresses.ts";
import { Badge } from "../../components/badge.tsx";
import { Empty } from "../../components/empty.tsx";
import { Evidence } from "../../components/evidence.tsx";
import { Facts } from "../../components/facts.tsx";
import { AccountLink, DealLink, OperationLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { Section } from "../../components/section.tsx";
import { StoppedPermits } from "../../components/stopped-permits.tsx";
import { Since } from "../../components/time.tsx";
import { orNone } from "../../data/or-none.ts";
import { usePermits } from "../../data/use-permits.ts";
import { useRead } from "../../data/use-read.ts";
import { sentence } from "../../formats/words.ts";
import { History } from "./history.tsx";
import { isAboutMaster } from "./is-master.ts";
import { Present } from "./present.tsx";
import { Vote } from "./vote.tsx";
import { happenedInOne, whatHappened } from "./what-happened.ts";

type Review = Models["Review"];

export function ReviewView({ id }: { readonly id: string }) {
  const review = useRead(
    (client, signal) => orNone(client.query("getReview", { path: { review_id: id } }, { signal }), "review_not_found"),
    { keys: [id], topics: ["reviews"] },
  );
  return (
    <>
      <p class="trail">
        <a href={reviewsHref()}>Reviews</a>
      </p>
      <Panel read={review} what="the review">
        {({ found }) =>
          found === undefined ? (
            <>
              <h1>{id}</h1>
              <Empty>
                There is no such review any more: what it was about is gone, or it was removed by retention.
              </Empty>
            </>
          ) : (
            <Shown review={found} changed={review.refresh} />
          )
        }
      </Panel>
    </>
  );
}

/** What keeps the review from being decided. */
function Resuming() {
  const permits = usePermits();
  return (
    <Section title="What resume waits for">
      <Panel read={permits} what="what resume waits for">
        {(found) =>
          found.state === "stopped" ? (
            <StoppedPermits {...found} />
          ) : (
            <p>Nothing: money commands are not stopped any more.</p>
          )
        }
      </Panel>
    </Section>
  );
}

function Shown({ review, changed }: { readonly review: Review; readonly changed: () => void }) {
  const { id, reason, state, login, amount, opened_at: opened, evidence } = review;
  return (
    <>
      <h1>
        {sentence(reason)} <Badge state={state} />
      </h1>
      <p>{whatHappened(happenedInOne(review))}</p>
      <Facts
        isStrip
        facts={[
          ["Review", id],
          ["Account", <AccountLink login={login} isMaster={isAboutMaster(review)} />],
          ["Amount", <Money amount={amount} />],
          ["Operation", <OperationLink id={review.operation_id} />],
          ["Ticket", <DealLink id={review.deal_id} />],
          ["Reference", <span class="code">{review.reference ?? "–"}</span>],
          ["Opened", <Since at={opened} />],
        ]}
      />
      <div class="columns">
        <Section title="Evidence when it was opened">
          <Evidence evidence={evidence} />
        </Section>
        <Section title="As it is now">
          <Present review={review} />
        </Section>
      </div>
      {reason === "database_behind" && state !== "decided" && <Resuming />}
      <Section title={state === "decided" ? "Decision" : "Decide"}>
        <Vote review={review} changed={changed} />
      </Section>
      <Section title="History">
        <History review={review} />
      </Section>
    </>
  );
}
