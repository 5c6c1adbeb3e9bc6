import { expect, test } from "vitest";
import { outcomeUnknown, serviceUnavailable } from "#kernel/contract/refusals.ts";
import { Refusal } from "#kernel/refusal.ts";
import { type Answer, testEdge, type TestEdge, type TestOptions } from "../../../services/edge/testing/test-edge.ts";
import { type Case, CASES } from "./cases.ts";

const COMMANDS = CASES.filter(({ method }) => method !== "GET");
const OTHER_ID = "0198c0de-0000-7000-8000-000000000009";

type Reply = (request: unknown, context: unknown) => Promise<unknown>;

/** The services of a case; the one that receives the command fails once per error. */
function failing({ answers }: Case, errors: readonly Error[]): TestOptions {
  const left = [...errors];
  const fail =
    (reply: Reply): Reply =>
    async (request, context) => {
      const error = left.shift();
      if (error !== undefined) throw error;
      return await reply(request, context);
    };
  const services = Object.entries(answers as Readonly<Record<string, Readonly<Record<string, Reply>>>>);
  return Object.fromEntries(
    services.map(([name, methods]) => [
      name,
      Object.fromEntries(Object.entries(methods).map(([method, reply]) => [method, fail(reply)])),
    ]),
  );
}

async function give(one: Case, errors: readonly Error[]): Promise<Answer & Pick<TestEdge, "calls">> {
  const edge = await testEdge(failing(one, errors));
  const { method, url, body } = one;
  const answer = await edge.call({ method, url, ...(body === undefined ? {} : { payload: body as object }) });
  return { ...answer, calls: edge.calls };
}

const LOST = outcomeUnknown("funding");
const AWAY = serviceUnavailable("funding");
const FAULT = new Error("a bug");
const NOT_KNOWN_YET = new Refusal({
  code: "outcome_unknown",
  status: "unknown_outcome",
  message: "the platform has not answered",
  outcome: "unknown",
  operationId: OTHER_ID,
});

/** The errors of the attempts, and the problem that the caller gets. `id`: the operation that may be looked up. */
const PATHS: readonly {
  readonly what: string;
  readonly errors: readonly Error[];
  readonly problem: object;
  readonly attempts: number;
  readonly id?: string;
}[] = [
  {
    what: "no service could be reached",
    errors: [AWAY],
    problem: { status: 503, code: "service_unavailable", outcome: "not_executed", retryable: true },
    attempts: 1,
  },
  {
    what: "its answer was lost, and so was that of its repetition",
    errors: [LOST, LOST],
    problem: { status: 504, code: "outcome_unknown", outcome: "unknown", retryable: false },
    attempts: 2,
  },
  {
    what: "its answer was lost, and then no service could be reached",
    errors: [LOST, AWAY],
    problem: { status: 504, code: "outcome_unknown", outcome: "unknown", retryable: false },
    attempts: 2,
  },
  {
    what: "an unexpected error occurred",
    errors: [FAULT],
    problem: { status: 504, code: "outcome_unknown", outcome: "unknown", retryable: false },
    attempts: 1,
  },
  {
    what: "the service does not know the outcome yet",
    errors: [NOT_KNOWN_YET],
    problem: { status: 504, code: "outcome_unknown", outcome: "unknown", retryable: false },
    attempts: 1,
    id: OTHER_ID,
  },
];

test.for(COMMANDS.flatMap((one) => PATHS.map((path) => ({ name: one.name, one, ...path }))))(
  "$name: $what",
  async ({ one, errors, problem, attempts, id }) => {
    const { body, headers, calls } = await give(one, errors);
    const given = calls.map(({ context }) => context.commandId);

    expect(body).toMatchObject({ ...problem, operation_id: id ?? headers["x-operation-id"] });
    expect(given).toEqual(Array.from({ length: attempts }, () => headers["x-operation-id"]));
  },
);

test.for(COMMANDS)("$name whose answer was lost is answered by its repetition, under the same id", async (one) => {
  const { status, headers, calls } = await give(one, [LOST]);

  expect(status).toBe(200);
  expect(calls.map(({ context }) => context.commandId)).toEqual(Array(2).fill(headers["x-operation-id"]));
});
