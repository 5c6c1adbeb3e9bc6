import { NoAnswerError, ProblemError } from "../../client/index.ts";

/** A file of the API, such as a statement as CSV, which the client has no form for. Throws as a query does. */
export type ReadFile = (target: string, signal?: AbortSignal) => Promise<string>;

const TIMEOUT_MS = 60_000;

export function createReadFile(baseUrl: string, fetch: typeof globalThis.fetch): ReadFile {
  return async (target, signal) => {
    const limit = AbortSignal.timeout(TIMEOUT_MS);
    const options = { signal: signal === undefined ? limit : AbortSignal.any([signal, limit]) };
    let response: Response;
    let text: string;
    try {
      response = await fetch(baseUrl + target, options);
      text = await response.text();
    } catch (cause) {
      throw new NoAnswerError(`no answer to ${target}`, { cause });
    }
    if (response.ok) return text;
    const isProblem = (response.headers.get("content-type") ?? "").startsWith("application/problem+json");
    if (!isProblem) throw new NoAnswerError(`an answer of status ${response.status} that is no problem`);
    throw new ProblemError(JSON.parse(text));
  };
}
