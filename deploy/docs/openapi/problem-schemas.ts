import { PROBLEM_MEANINGS } from "../../../services/edge/problems/meanings.ts";
import { problemKind, PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { bool, model, string } from "../../../services/edge/fields/field.ts";
import { SCOPES } from "../../../services/edge/identity/keys/scopes.ts";
import { Type } from "typebox";
import type { Components, Json } from "./components.ts";
import { FIELD_ERROR_CODES } from "./field-error-codes.ts";
import { documented } from "./schema.ts";
import { problemCode, problemOutcome } from "../../../services/edge/api/schemas/problem-sets.ts";

const FieldErrorItem = model("FieldError", "One wrong field of a request.", {
  field: string({
    description: "Path of the field, `body` for the body as a whole, or the name of a header.",
    example: "perf_fee.rate",
  }),
  code: FIELD_ERROR_CODES.of("Stable reason.", "out_of_range"),
  message: string({
    description: "One sentence that says what is wrong.",
    example: "perf_fee.rate must be from 0 to 1.",
  }),
});

const ProblemModel = model(
  "Problem",
  "RFC 9457. The schema of each code adds the members that only this code has. Ignore members that you do not know.",
  {
    type: string({
      description: "Page of this server that explains the code: a reference relative to the URL of the request.",
      example: "/docs/problems/below_min_deposit",
      shown: { format: "uri-reference" },
    }),
    title: string({
      description: "Short summary, the same for every occurrence.",
      example: PROBLEMS.below_min_deposit.title,
    }),
    status: Type.Integer({ description: "The HTTP status.", examples: [409] }),
    detail: string({
      description: "One sentence about this occurrence, with its values.",
      example: "Investor balance 0.00 USD is below the Master's minimum deposit of 500.00 USD.",
    }),
    instance: string({
      description: "Path of the request.",
      example: "/api/v1/investor/assign",
      shown: { format: "uri-reference" },
    }),
    code: problemCode.of("Stable code to branch on.", "below_min_deposit"),
    request_id: string({
      description: "Id of the request, as in X-Request-Id.",
      example: "0198c0de-0000-7000-8000-000000000000",
    }),
    retryable: bool({
      description: "Nothing was executed, and the same request may succeed later.",
      example: false,
    }),
    operation_id: Type.Optional(
      string({
        description: "Operation that the problem is about, or that blocks the request.",
        example: "0198c0de-0000-7000-8000-000000000001",
      }),
    ),
    outcome: Type.Optional(
      problemOutcome.of(
        "Known effect of a command; missing in answers to GET, and where an Idempotency-Key was not looked up.",
        "not_executed",
      ),
    ),
    errors: Type.Optional(Type.Array(FieldErrorItem, { description: "All wrong fields of the request." })),
  },
);

/** Members that only some codes have. */
const MEMBERS: Readonly<Record<string, Json>> = {
  required_scope: { type: "string", enum: [...SCOPES], description: "A scope that is sufficient." },
  required: {
    type: "string",
    description: "Minimum deposit of the Master in USD, two decimals.",
    examples: ["500.00"],
  },
  actual: { type: "string", description: "Balance or amount in USD, two decimals.", examples: ["0.00"] },
  open_positions: { type: "integer", format: "int64", description: "Number of open positions.", examples: [2] },
  open_payments: { type: "integer", format: "int64", description: "Number of fees on their way.", examples: [2] },
  deal_id: { type: "integer", format: "int64", description: "Ticket of the executed deal.", examples: [1234567] },
  mt5_login: {
    type: "string",
    description: "Login of the account that exists, or that is archived.",
    examples: ["3000009"],
  },
  group: { type: "string", description: "Group of the account on the trading platform.", examples: ["real\\cent"] },
  currency: { type: "string", description: "Currency of the group.", examples: ["USC"] },
  digits: { type: "string", description: "Digits of the group's amounts.", examples: ["2"] },
  actions: { type: "string", description: "Names of the possible actions, separated by a comma and a space." },
  state: { type: "string", description: "State of the fee version or the Master." },
  removed_through: {
    type: "integer",
    format: "int64",
    description: "Highest id of an event that may be removed.",
    examples: [900],
  },
  proposed_action: { type: "string", description: "The proposed action." },
  proposed_deal_id: { type: "string", description: "Ticket of the proposal; 0 without one." },
  proposed_by: { type: "string", description: "Owner of the API key that proposed it." },
  reason: {
    type: "string",
    description: "`outcome_unknown`: the outcome of an earlier operation on the account is being determined.",
    examples: ["outcome_unknown"],
  },
  platform_code: { type: "integer", format: "int64", description: "Return code of the platform.", examples: [10006] },
};

/** BelowMinDepositProblem: the schema of one code, with its own members. */
export function problemSchema(code: ProblemCode, components: Components): Json {
  const { title, status, members = {}, optional = [] } = problemKind(code);
  const names = Object.keys(members);
  return components.refer("schemas", `${pascal(code)}Problem`, code, () => ({
    description: `${title}. ${PROBLEM_MEANINGS[code]}`,
    allOf: [
      documented(ProblemModel, components),
      {
        type: "object",
        required: ["code", "status", ...names.filter((name) => !optional.includes(name))],
        properties: {
          code: { type: "string", enum: [code] },
          status: { type: "integer", enum: [status] },
          ...Object.fromEntries(names.map((name) => [name, memberSchema(name)])),
        },
      },
    ],
  }));
}

/** The schema of a status with one or several codes; `code` decides which of them it is. */
export function problemUnion(codes: readonly ProblemCode[], components: Components): Json {
  const schemas = codes.map((code) => problemSchema(code, components));
  return schemas.length === 1 ? (schemas[0] as Json) : { oneOf: schemas };
}

export function pascal(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function memberSchema(name: string): Json {
  const schema = MEMBERS[name];
  if (schema === undefined) throw new Error(`the problem member ${name} has no schema`);
  return schema;
}
