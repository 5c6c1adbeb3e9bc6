import type { ComponentChildren } from "preact";
import type { Models } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { InvestorLink, Ticket } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Time } from "../../components/time.tsx";
import { durationText, instantOf } from "../../formats/time.ts";
import { sentence, words } from "../../formats/words.ts";
import { Attempts } from "./attempts.tsx";
import { type Attempt, groupAttempts } from "./group-attempts.ts";

type Leg = Models["Leg"];

/** The request, each movement with what was written to the trading platform and what came back, and the end. */
export function Timeline({
  operation,
  attempts,
}: {
  readonly operation: Models["Operation"];
  readonly attempts: readonly Attempt[];
}) {
  const { requested_at: requested, created_at: recorded, finished_at: finished, legs, action } = operation;
  const tookMs = finished === null ? undefined : instantOf(finished).getTime() - instantOf(requested).getTime();
  const { ofLegs, others } = groupAttempts(legs, attempts);
  return (
    <ol class="timeline">
      <Step at={requested} title="Requested">
        The command came for the first time.
      </Step>
      <Step at={recorded} title="Recorded">
        The intent was recorded before anything was sent.
      </Step>
      {legs.map((leg, index) => (
        <LegStep key={index} leg={leg} attempts={ofLegs[index] ?? []} />
      ))}
      {others.map((all) => (
        <li key={all[0]?.reference} class="step">
          <header>
            <strong>{sentence(all[0]?.kind ?? "")}</strong>
          </header>
          <Attempts attempts={all} />
        </li>
      ))}
      {legs.length === 0 && (
        <li class="step quiet">
          {action === "assign"
            ? "An assign moves no money of its own: the mirror follows."
            : "No movement can be read at the moment."}
        </li>
      )}
      {finished === null ? (
        <li class="step waiting">
          <strong>Not finished</strong>
        </li>
      ) : (
        <Step at={finished} title={`Finished: ${words(operation.outcome)}`}>
          {tookMs === undefined ? "" : `${tookMs < 1_000 ? `${tookMs} ms` : durationText(tookMs)} after the request.`}
        </Step>
      )}
    </ol>
  );
}

function Step({
  at,
  title,
  children,
}: {
  readonly at: string;
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  return (
    <li class="step">
      <header>
        <strong>{title}</strong> <Time at={at} />
      </header>
      <p class="quiet">{children}</p>
    </li>
  );
}

function LegStep({ leg, attempts }: { readonly leg: Leg; readonly attempts: readonly Attempt[] }) {
  const { kind, login, amount, outcome, reference, deal_id: ticket, applied_at: applied, waits_for: wait } = leg;
  return (
    <li class={`step leg ${outcome}`}>
      <header>
        <strong>{sentence(kind)}</strong> <Badge state={outcome} /> {applied !== null && <Time at={applied} />}
      </header>
      <dl class="exchange">
        <div>
          <dt>Written to the platform</dt>
          <dd>
            <Money amount={amount} /> on <InvestorLink id={login} />
            {reference === null ? (
              ", reference not known yet"
            ) : (
              <>
                , comment begins with <span class="code">{reference}</span>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Came back</dt>
          <dd>
            {ticket === null ? (
              (WAITS.get(wait ?? "") ?? ANSWERS[outcome])
            ) : (
              <>
                Ticket <Ticket id={ticket} />
              </>
            )}
          </dd>
        </div>
      </dl>
      {attempts.length > 0 && <Attempts attempts={attempts} />}
    </li>
  );
}

const WAITS: ReadonlyMap<string, string> = new Map([
  [
    "pool_deficit",
    "Nothing yet. The pool is in deficit: the money stays on the account, can be withdrawn, and goes to the Master when the deficit is covered.",
  ],
  [
    "master_not_shown",
    "Nothing yet. The account of the Master is archived: the money stays on the account, can be withdrawn, and goes to the Master when that is shown again.",
  ],
]);

const ANSWERS: Readonly<Record<Leg["outcome"], string>> = {
  pending: "Nothing yet.",
  executed: "Nothing was to be moved.",
  not_executed: "Refused, or proven not to exist: no deal.",
  unknown: "No answer, and no deal in the history so far. The search goes on.",
  review: "What came back does not prove what happened. An operator decides.",
};
