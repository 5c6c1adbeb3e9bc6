import { type Client, type Models, ProblemError } from "../../../client/index.ts";
import { Badge } from "../../components/badge.tsx";
import { Facts } from "../../components/facts.tsx";
import { OperationLink } from "../../components/links.tsx";
import { Money } from "../../components/money.tsx";
import { Panel } from "../../components/panel.tsx";
import { ProblemView } from "../../components/problem-view.tsx";
import { Time } from "../../components/time.tsx";
import { useRead } from "../../data/use-read.ts";
import { can } from "../../session/session.ts";

type Review = Models["Review"];

/** What the platform and the ledger show at this moment, to be compared with the evidence. */
export function Present({ review }: { readonly review: Review }) {
  const { login, operation_id: operationId } = review;
  const present = useRead((client, signal) => readPresent(client, review, signal), {
    keys: [review.id],
    topics: [`login:${login}`, "operations", "mirrors"],
  });
  return (
    <Panel read={present} what="the account">
      {({ balance, proof, operation, problem, readAt }) => (
        <>
          <Facts
            facts={[
              balance !== undefined && ["Balance on the platform", <Money amount={balance.balance} />],
              proof !== undefined && ["Expected balance", <Money amount={proof.ledger_balance} />],
              proof !== undefined && ["In flight", <Money amount={proof.in_flight} />],
              proof !== undefined && ["Quarantined", <Money amount={proof.quarantined} isAlarming />],
              proof !== undefined && ["Own capital", <Money amount={proof.own_capital} />],
              proof !== undefined && ["Difference", <Money amount={proof.difference} isAlarming />],
              operation !== undefined && [
                "Operation",
                <>
                  <OperationLink id={operationId} /> <Badge state={operation.outcome} />
                </>,
              ],
              ["Read", <Time at={readAt} isFocusable />],
            ]}
          />
          {problem !== undefined && <ProblemView problem={problem} />}
          {!can("investors:read") && !can("subscriptions:read") && (
            <p class="quiet">
              This key does not have the scopes that read balances (investors:read, subscriptions:read).
            </p>
          )}
          <p class="later">
            <button type="button" onClick={present.refresh}>
              Read again
            </button>
          </p>
        </>
      )}
    </Panel>
  );
}

type Present = {
  readonly balance: Models["Balance"] | undefined;
  readonly proof: Models["AccountProof"] | undefined;
  readonly operation: Models["Operation"] | undefined;
  /** Why a part is missing that is there. */
  readonly problem: unknown;
  readonly readAt: string;
};

async function readPresent(client: Client, review: Review, signal: AbortSignal): Promise<Present> {
  const { login, operation_id: operationId, evidence, reason } = review;
  const master = typeof evidence["master"] === "string" ? evidence["master"] : login;
  let problem: unknown;
  // A part that cannot be read leaves the others. An account that is in no pool has no proof.
  const orNothing = <T,>(read: Promise<T>): Promise<T | undefined> =>
    read.catch((error: unknown) => {
      if (!(error instanceof ProblemError && error.problem.status === 404)) problem ??= error;
      return undefined;
    });
  const [balance, proof, operation] = await Promise.all([
    can("investors:read")
      ? orNothing(client.query("getBalance", { path: { mt5_login: login } }, { signal }))
      : undefined,
    // A stop of all accounts names the first one that it was found on.
    can("subscriptions:read") && reason !== "database_behind"
      ? orNothing(client.query("getProof", { path: { master_login: master } }, { signal }))
      : undefined,
    operationId !== null && can("investors:read")
      ? orNothing(client.query("getOperation", { path: { operation_id: operationId } }, { signal }))
      : undefined,
  ]);
  const accounts = proof === undefined ? [] : [proof.master, ...proof.investors];
  return {
    balance,
    proof: accounts.find(({ mt5_login: one }) => one === login),
    operation,
    problem,
    readAt: new Date().toISOString(),
  };
}
