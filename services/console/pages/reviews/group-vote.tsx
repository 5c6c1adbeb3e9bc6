import { useRef, useState } from "preact/hooks";
import type { Models } from "../../../client/index.ts";
import { ACTIONS } from "../../../catalogue/reviews.ts";
import { isSameOwner } from "../../../kernel/review/owner.ts";
import { ReviewLink } from "../../components/links.tsx";
import { ProblemView } from "../../components/problem-view.tsx";
import { submitting } from "../../formats/form.ts";
import { sentence, words } from "../../formats/words.ts";
import { clientOfSession, session } from "../../session/session.ts";
import { type Action, decisionsOf, effectOf, mayNameDeal, needsDeal } from "./actions.ts";
import { BOOTSTRAP, BootstrapCannotDecide, MAX_NOTE } from "./vote.tsx";
import { inNumbers } from "./what-happened.ts";

type Review = Models["Review"];
type Vote = Models["ReviewVote"];

/** Reviews on which the same can be voted. */
type Choice = {
  readonly kind: "propose" | "approve" | "withdraw";
  readonly action: Action;
  readonly by: string;
  readonly reviews: readonly Review[];
};

/** The same vote on all reviews of a group, which names no deal: what is proposed for some is approved for these. */
export function choicesOf(reviews: readonly Review[], own: string): readonly Choice[] {
  const open = reviews.filter(({ decision }) => decision === null);
  const actions = [...new Set(open.flatMap((review) => decisionsOf(review)))].filter((action) => !needsDeal(action));
  const proposals = Map.groupBy(
    reviews.filter(({ decision }) => decision?.deal_id === null && !needsDeal(decision.action)),
    ({ decision }) => `${decision?.action} ${decision?.proposed_by}`,
  );
  return [
    ...[...proposals.values()].flatMap((of): Choice[] => {
      const decision = of[0]?.decision;
      if (decision === null || decision === undefined) return [];
      const choice = { action: decision.action, by: decision.proposed_by, reviews: of };
      const withdrawal: Choice = { ...choice, kind: "withdraw" };
      return isSameOwner(decision.proposed_by, own) ? [withdrawal] : [{ ...choice, kind: "approve" }, withdrawal];
    }),
    ...actions.map((action): Choice => ({
      kind: "propose",
      action,
      by: own,
      reviews: open.filter((review) => review.actions.includes(action)),
    })),
  ];
}

type Props = { readonly group: string; readonly reviews: readonly Review[]; readonly changed: () => void };

export function GroupVote({ group, reviews, changed }: Props) {
  const own = session.value?.key.client ?? "";
  const [key, setKey] = useState("");
  const votes = useVotes(group, changed);
  if (own === BOOTSTRAP) return <BootstrapCannotDecide />;
  const choices = choicesOf(reviews, own);
  const chosen = choices.find((one) => keyOf(one) === key) ?? (choices.length === 1 ? choices[0] : undefined);
  const mine = reviews.filter(({ decision }) => decision !== null && isSameOwner(decision.proposed_by, own)).length;
  const submit = submitting((text) => chosen !== undefined && votes.send(chosen, text("note")));
  return (
    <>
      {mine > 0 && (
        <p>
          You have proposed a decision for {mine} of these accounts. <strong>Another person has to approve it</strong>,
          signed in with a key of their own.
        </p>
      )}
      {choices.length === 0 && reviews.length > 0 && (
        <p>Each action names a deal of its own here. Open the reviews below, and decide them one by one.</p>
      )}
      {choices.length > 0 && (
        <form class="vote" onSubmit={submit}>
          <fieldset>
            <legend>What shall be done</legend>
            {choices.map((choice) => (
              <label key={keyOf(choice)} class="choice">
                <input
                  type="radio"
                  name="choice"
                  required
                  checked={choice === chosen}
                  onChange={() => setKey(keyOf(choice))}
                />
                <span>
                  <strong>{titleOf(choice)}</strong>
                  <span class="quiet">{effectsOf(choice)}</span>
                </span>
              </label>
            ))}
          </fieldset>
          <label>
            Reason, kept permanently with your name
            <textarea name="note" rows={3} maxLength={MAX_NOTE} required />
          </label>
          <div class="buttons">
            <button type="submit" class="primary" disabled={votes.isSending || chosen === undefined}>
              {votes.isSending ? "Sending" : chosen === undefined ? "Choose an action" : buttonOf(chosen)}
            </button>
            <span class="quiet">as {own}</span>
          </div>
        </form>
      )}
      <Result {...votes} />
    </>
  );
}

function keyOf({ kind, action, by }: Choice): string {
  return `${kind} ${action} ${by}`;
}

function titleOf({ kind, action, by, reviews }: Choice): string {
  const accounts = reviews.length === 1 ? "1 account" : `${reviews.length} accounts`;
  if (kind === "propose") return `${sentence(action)}: ${accounts}`;
  return `${kind === "approve" ? "Approve" : "Withdraw"} “${words(action)}” for ${accounts}, proposed by ${by}`;
}

function effectsOf({ kind, action, reviews }: Choice): string {
  if (kind === "withdraw") return ACTIONS.withdraw_proposal.effect;
  const numbers = inNumbers(action, reviews);
  const who =
    kind === "propose" ? " Another person has to approve it; nothing changes before." : " It is carried out now.";
  const deal = mayNameDeal(action) ? " Here it names no deal: to name one, decide the reviews one by one." : "";
  return `${numbers === "" ? "" : `${numbers} `}${effectOf(reviews[0]?.reason ?? "", action)}${deal}${who}`;
}

function buttonOf({ kind, reviews }: Choice): string {
  const verb = { propose: "Propose", approve: "Approve", withdraw: "Withdraw" }[kind];
  return `${verb} for ${reviews.length === 1 ? "1 account" : `${reviews.length} accounts`}`;
}

type Votes = {
  readonly isSending: boolean;
  readonly recorded: number;
  readonly refused: readonly Vote[];
  /** Why the rest was not sent, or is not known. */
  readonly problem: unknown;
  readonly send: (choice: Choice, note: string) => void;
};

/** As many as one request takes. */
const AT_ONCE = 100;

const NOTHING = { isSending: false, recorded: 0, refused: [], problem: undefined };

/** One request after the other. One whose outcome is not known is sent again under its key. */
function useVotes(group: string, done: () => void): Votes {
  const [state, setState] = useState<Omit<Votes, "send">>(NOTHING);
  const unknown = useRef<{ readonly about: string; readonly key: string } | undefined>(undefined);

  const sendAll = async ({ kind, action, reviews }: Choice, note: string): Promise<void> => {
    const ids = reviews.map(({ id }) => id);
    let [recorded, refused]: [number, readonly Vote[]] = [0, []];
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const voted = kind === "withdraw" ? "withdraw_proposal" : action;
      const body = { group, ids: ids.slice(from, from + AT_ONCE).join(","), action: voted, note };
      const about = JSON.stringify(body);
      const options = unknown.current?.about === about ? { idempotencyKey: unknown.current.key } : {};
      const result = await clientOfSession().command("decideReviewGroup", { body }, options);
      unknown.current = result.outcome === "unknown" ? { about, key: result.idempotencyKey } : undefined;
      if (result.outcome === "not_executed" || result.outcome === "unknown") {
        const problem = result.outcome === "unknown" ? result.error : result.problem;
        setState({ isSending: false, recorded, refused, problem: problem ?? "no connection" });
        return;
      }
      recorded += result.answer.items.filter(({ review }) => review !== null).length;
      refused = [...refused, ...result.answer.items.filter(({ problem }) => problem !== null)];
      setState({ isSending: from + AT_ONCE < ids.length, recorded, refused, problem: undefined });
    }
  };
  const send = (choice: Choice, note: string): void => {
    if (state.isSending) return;
    setState({ ...NOTHING, isSending: true });
    sendAll(choice, note).then(done, (problem: unknown) => {
      setState((before) => ({ ...before, isSending: false, problem }));
      done();
    });
  };
  return { ...state, send };
}

function Result({ recorded, refused, problem }: Votes) {
  return (
    <>
      {recorded > 0 && (
        <p role="status">
          Recorded for {recorded} {recorded === 1 ? "account" : "accounts"}.
        </p>
      )}
      {refused.length > 0 && (
        <div role="status" class="warning">
          <p>
            Not recorded for {refused.length} {refused.length === 1 ? "account" : "accounts"}; these stay as they are,
            and can be decided by themselves:
          </p>
          <ul class="plain">
            {refused.map(({ id, problem: why }) => (
              <li key={id}>
                <ReviewLink id={id} />: {why?.detail}
              </li>
            ))}
          </ul>
        </div>
      )}
      {problem !== undefined && (
        <>
          <p role="status" class="warning">
            It is not known, or not so, that the rest was recorded. Send it again: each vote counts once.
          </p>
          {typeof problem !== "string" && <ProblemView problem={problem} />}
        </>
      )}
    </>
  );
}
