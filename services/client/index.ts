/** Everything that the package exports. */
export { type Client, type CommandOptions, type CommandResult, createClient, type QueryOptions } from "./client.ts";
export { isProblem, NoAnswerError, ProblemError } from "./errors.ts";
export { fromMinor, toMinor } from "./money.ts";
export type { Attempt, ClientOptions } from "./transport.ts";
export type {
  AnyProblem,
  Answer,
  CommandId,
  Input,
  Item,
  Models,
  OperationId,
  PagedId,
  ProblemOf,
  QueryId,
} from "./types.ts";
