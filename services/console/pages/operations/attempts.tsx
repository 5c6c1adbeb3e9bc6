import { Badge, type Tone } from "../../components/badge.tsx";
import { Ticket } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Time } from "../../components/time.tsx";
import { answerOf, type Attempt } from "./group-attempts.ts";

const TONES: Readonly<Record<Attempt["state"], Tone>> = {
  sending: "waiting",
  unknown: "bad",
  applied: "good",
  refused: "quiet",
  absent: "quiet",
  not_sent: "quiet",
};

/** Each send of one movement: when and what was written, and what came back. */
export function Attempts({ attempts }: { readonly attempts: readonly Attempt[] }) {
  return (
    <ol class="plain">
      {attempts.map((one) => (
        <li key={one.reference}>
          <p>
            Attempt {one.number} <Badge state={one.state} tone={TONES[one.state]} /> <Time at={one.permitted_at} />
          </p>
          <dl class="exchange">
            <div>
              <dt>Written</dt>
              <dd>
                {one.state === "not_sent" ? "Nothing: " : <Money amount={one.amount} />}{" "}
                <span class="code">{one.comment}</span>
              </dd>
            </div>
            <div>
              <dt>Answer</dt>
              <dd>
                {answerOf(one)}{" "}
                {one.deal_id !== null && (
                  <>
                    Ticket <Ticket id={one.deal_id} />{" "}
                  </>
                )}
                {one.ended_at !== null && (
                  <>
                    Recorded <Time at={one.ended_at} />.{" "}
                  </>
                )}
                {one.searched_at !== null && (
                  <>
                    The whole history was read {one.searches} {one.searches === 1 ? "time" : "times"} without its deal,
                    last <Time at={one.searched_at} />.
                  </>
                )}
              </dd>
            </div>
          </dl>
        </li>
      ))}
    </ol>
  );
}
