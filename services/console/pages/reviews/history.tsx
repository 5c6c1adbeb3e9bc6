import type { Models } from "../../../client/index.ts";
import { Ticket } from "../../components/links.tsx";
import { Time } from "../../components/time.tsx";
import { words } from "../../formats/words.ts";

export function History({ review: { opened_at: opened, decision } }: { readonly review: Models["Review"] }) {
  return (
    <ol class="timeline">
      <li class="step">
        <header>
          <strong>Opened</strong> <Time at={opened} />
        </header>
      </li>
      {decision !== null && (
        <li class="step">
          <header>
            <strong>
              {words(decision.action)} proposed by {decision.proposed_by}
            </strong>{" "}
            <Time at={decision.proposed_at} />
          </header>
          <p>
            {decision.deal_id !== null && (
              <>
                Deal <Ticket id={decision.deal_id} />.{" "}
              </>
            )}
            {decision.note}
          </p>
        </li>
      )}
      {decision !== null && decision.confirmed_at !== null && (
        <li class="step">
          <header>
            <strong>Approved by {decision.confirmed_by}</strong> <Time at={decision.confirmed_at} />
          </header>
        </li>
      )}
    </ol>
  );
}
