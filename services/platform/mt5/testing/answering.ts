import { createBatchSupport } from "../batches.ts";
import { bindContext } from "../client.ts";
import { requireEnvelope } from "../codec.ts";
import type { Mt5Context } from "../context.ts";
import { Mt5Error } from "../errors.ts";
import type { Mt5Request } from "../http/http-request.ts";
import { zoneClock } from "../server-clock.ts";
import { silentLog } from "./test-client.ts";

/** Text of one character per byte, or the status of an answer that is none. Undefined = "not found". */
type Answer = string | { readonly status: number } | undefined;
/** What a platform answers to each request. */
export type Answers = (request: Mt5Request) => Answer;

export const NOT_FOUND = '{"retcode":"13 Not found"}';

/** An answer with this member, as the platform sends it. */
export function done(answer: unknown): string {
  return Buffer.from(JSON.stringify({ retcode: "0 Done", answer })).toString("latin1");
}

/** The context of reads whose answers need no connection. */
export function contextOf(answers: Answers, clock = zoneClock("UTC")): Mt5Context {
  return {
    pool: undefined as never,
    read: async (request) => requireEnvelope(Buffer.from(bodyOf(answers(request)), "latin1")),
    clock: async () => clock,
    batches: createBatchSupport(silentLog),
    log: silentLog,
  };
}

function bodyOf(answer: Answer): string {
  if (typeof answer !== "object") return answer ?? NOT_FOUND;
  const { status } = answer;
  throw new Mt5Error(status === 403 ? "forbidden" : "http_status", `HTTP ${status}`, { status });
}

/** The reads of a client whose platform answers so, and the paths that they have asked for. */
export function answering(answers: Answers) {
  const paths: string[] = [];
  const client = bindContext(
    contextOf((request) => {
      paths.push(request.path);
      return answers(request);
    }),
  );
  return { ...client, paths };
}

/** Answers by their path. */
export function byPath(answers: Readonly<Record<string, Answer>>) {
  return answering(({ path }) => answers[path]);
}
