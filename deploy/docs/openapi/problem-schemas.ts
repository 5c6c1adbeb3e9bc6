import type { Member } from "../../../services/edge/problems/entry.ts";
import { PROBLEMS, type ProblemCode } from "../../../services/edge/problems/problems.ts";
import { bool, model, string } from "../../../services/edge/fields/field.ts";
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

/** BelowMinDepositProblem: the schema of one code, with its own members. */
export function problemSchema(code: ProblemCode, components: Components): Json {
  const { title, meaning, status, members = {} } = PROBLEMS[code];
  const own = Object.entries(members);
  const required = own.flatMap(([name, { optional = false }]) => (optional ? [] : name));
  return components.refer("schemas", `${pascal(code)}Problem`, code, () => ({
    description: `${title}. ${meaning}`,
    allOf: [
      documented(ProblemModel, components),
      {
        type: "object",
        required: ["code", "status", ...required],
        properties: {
          code: { type: "string", enum: [code] },
          status: { type: "integer", enum: [status] },
          ...Object.fromEntries(own.map(([name, member]) => [name, memberSchema(member)])),
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

function memberSchema({ description, example, values }: Member): Json {
  const type = typeof example === "number" ? { type: "integer", format: "int64" } : { type: "string" };
  return { ...type, ...(values === undefined ? {} : { enum: values }), description, examples: [example] };
}
