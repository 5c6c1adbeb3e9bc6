import { useState } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { isSameOwner } from "../../../kernel/review/owner.ts";
import { ProblemView } from "../../components/problem-view.tsx";
import { useCommand } from "../../data/use-command.ts";
import { submitting } from "../../formats/form.ts";
import { words } from "../../formats/words.ts";
import { session } from "../../session/session.ts";
import { inNumbers } from "./what-happened.ts";
import { type Action, decisionsOf, effectOf, mayNameDeal, needsDeal } from "./actions.ts";

type Review = Models["Review"];
type Props = { readonly review: Review; readonly changed: () => void };

export const MAX_NOTE = 1_000;
export const BOOTSTRAP = "bootstrap";

export function BootstrapCannotDecide() {
  return <p class="warning">The bootstrap key cannot decide. Sign in with a key of the scope ops in your own name.</p>;
}

/** One client proposes, and another one approves the same. */
export function Vote({ review, changed }: Props) {
  const { state, decision } = review;
  const own = session.value?.key.client ?? "";
  if (state === "decided") {
    return (
      <p>{decision === null ? "Decided." : `${words(decision.action)}: ${effectOf(review.reason, decision.action)}`}</p>
    );
  }
  if (own === BOOTSTRAP) {
    return <BootstrapCannotDecide />;
  }
  return <Form review={review} changed={changed} own={own} />;
}

function Form({ review, changed, own }: Props & { readonly own: string }) {
  const { id, decision } = review;
  const decisions = decision === null ? decisionsOf(review) : [decision.action];
  const [action, setAction] = useState<Action | undefined>(decisions.length === 1 ? decisions[0] : undefined);
  const command = useCommand<"decideReview">(changed);
  const isOwn = decision !== null && isSameOwner(decision.proposed_by, own);

  const submit = submitting((text, event) => {
    const chosen = event.submitter?.getAttribute("value") === "withdraw" ? "withdraw_proposal" : action;
    if (chosen === undefined) return;
    const [deal, note] = [text("deal"), text("note")];
    const named = chosen !== "withdraw_proposal" && mayNameDeal(chosen) && /^\d+$/.test(deal);
    const body = { id, action: chosen, note, ...(named ? { deal_id: BigInt(deal) } : {}) };
    command.send(`${id} ${chosen} ${deal} ${note}`, (client, options) =>
      client.command("decideReview", { body }, options),
    );
  });

  return (
    <form class="vote" onSubmit={submit}>
      {decision !== null && (
        <p>
          <strong>{decision.proposed_by}</strong> proposes to <strong>{words(decision.action)}</strong>.{" "}
          {isOwn ? "Another client has to approve it." : "Compare it with the platform before you approve it."}
        </p>
      )}
      {decision === null && (
        <p>
          You propose, and another person, signed in with a key of their own, approves. Nothing changes before that.
        </p>
      )}
      <Choice review={review} decisions={decisions} action={action} choose={setAction} />
      {action !== undefined && mayNameDeal(action) && <Deal key={action} review={review} action={action} />}
      <label>
        Reason, kept permanently with your name
        <textarea name="note" rows={3} maxLength={MAX_NOTE} required />
      </label>
      <div class="buttons">
        {!isOwn && (
          <button type="submit" class="primary" disabled={command.isSending || decisions.length === 0} value="vote">
            {command.isSending ? "Sending" : decision === null ? "Propose" : "Approve"}
          </button>
        )}
        {decision !== null && (
          <button type="submit" disabled={command.isSending} value="withdraw">
            Withdraw the proposal
          </button>
        )}
        <span class="quiet">as {own}</span>
      </div>
      <Result command={command} />
    </form>
  );
}

type ChoiceProps = {
  readonly review: Review;
  readonly decisions: readonly Action[];
  readonly action: Action | undefined;
  readonly choose: (action: Action) => void;
};

function Choice({ review, decisions, action, choose }: ChoiceProps) {
  const { reason, decision } = review;
  return (
    <fieldset>
      <legend>{decision === null ? "Action" : "Proposed action"}</legend>
      {decisions.map((one) => (
        <label key={one} class="choice">
          <input
            type="radio"
            name="action"
            value={one}
            required
            checked={one === action}
            onChange={() => choose(one)}
          />
          <span>
            <strong>{words(one)}</strong>
            <span class="quiet">
              {inNumbers(one, [review])} {effectOf(reason, one)}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

function Deal({ review, action }: { readonly review: Review; readonly action: Action }) {
  const { decision } = review;
  const isNeeded = needsDeal(action);
  return (
    <label>
      {isNeeded ? "Ticket of the deal" : "Ticket of the deal that it repairs, if there is one"}
      <input
        name="deal"
        inputMode="numeric"
        pattern="\s*\d+\s*"
        required={isNeeded}
        readOnly={decision !== null}
        defaultValue={(decision === null && isNeeded ? review.deal_id : decision?.deal_id)?.toString() ?? ""}
      />
    </label>
  );
}

function Result({ command: { result } }: { readonly command: ReturnType<typeof useCommand<"decideReview">> }) {
  if (result === undefined) return null;
  if (result.outcome === "executed" || result.outcome === "accepted") {
    return <p role="status">Recorded: the review is {words(result.answer.state)}.</p>;
  }
  if (result.outcome === "not_executed" && result.problem !== undefined) {
    return <ProblemView problem={result.problem} />;
  }
  const error = result.outcome === "unknown" ? result.error : undefined;
  return (
    <>
      <p role="status" class="warning">
        {error === undefined
          ? "Nothing was recorded: there was no connection."
          : "It is not known whether the vote was recorded. Send it again without a change: it is sent under the same key, and counts once."}
      </p>
      {error !== undefined && <ProblemView problem={error} />}
    </>
  );
}
