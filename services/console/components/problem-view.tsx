import { NoAnswerError, ProblemError } from "../../client/index.ts";

type Props = { readonly problem: unknown; readonly retry?: () => void };

/** A problem in its own words, with its code, the page that explains it, and what can be done. */
export function ProblemView({ problem, retry }: Props) {
  const known = problem instanceof ProblemError ? problem.problem : isBody(problem) ? problem : undefined;
  return (
    <section class="problem" role="alert">
      {known === undefined ? <Other error={problem} /> : <Known {...known} />}
      <div class="buttons">
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
    </section>
  );
}

type Known = ProblemError["problem"];

/** The body of a problem, as the outcome of a command has it. */
function isBody(problem: unknown): problem is Known {
  return typeof problem === "object" && problem !== null && "request_id" in problem;
}

function Known(problem: Known) {
  const { title, detail, code, type, request_id, errors = [], operation_id } = problem;
  return (
    <>
      <h2>{title}</h2>
      <p>{detail}</p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ field, message }) => (
            <li key={field + message}>{message}</li>
          ))}
        </ul>
      )}
      <p>{nextStep(problem)}</p>
      <dl class="facts">
        <dt>Code</dt>
        <dd>
          <a href={pageOf(type)} target="_blank" rel="noreferrer">
            {code}
          </a>
        </dd>
        <dt>Request</dt>
        <dd class="code">{request_id}</dd>
        {operation_id !== undefined && (
          <>
            <dt>Operation</dt>
            <dd class="code">{operation_id}</dd>
          </>
        )}
      </dl>
    </>
  );
}

function Other({ error }: { readonly error: unknown }) {
  const isSilence = error instanceof NoAnswerError;
  return (
    <>
      <h2>{isSilence ? "No answer" : "Fault of the console"}</h2>
      <p>
        {isSilence
          ? "The service did not answer: no connection, or it took too long. What was shown before is unchanged."
          : "The console has failed to show this. The rest of it works; report what you were doing."}
      </p>
    </>
  );
}

function nextStep({ code, retryable, ...rest }: Known): string {
  const { outcome } = rest as { readonly outcome?: string };
  if (code === "unauthorized") return "Sign in with a key that is valid.";
  if (code === "insufficient_scope") return "Use a key that has the scope, or ask the administrator of the keys.";
  if (outcome === "unknown") return "It may have been executed. Look at the state before you do it again.";
  const executed = outcome === "not_executed" ? "Nothing was executed. " : "";
  return retryable
    ? `${executed}The same request may succeed a little later.`
    : `${executed}The page of the code says what to do.`;
}

/** Relative to the URL of the request, so to this origin. Only a page of the documentation is linked. */
function pageOf(type: string): string {
  const { origin, pathname } = new URL(type, location.origin);
  return origin === location.origin && pathname.startsWith("/docs/problems/") ? pathname : "/docs/problems";
}
