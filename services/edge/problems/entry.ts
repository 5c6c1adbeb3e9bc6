import type { RefusalExtra } from "#kernel/values/refusal.ts";
import type { RequiredScope } from "../wire/scopes.ts";

/** How far a request has come, at least, when it is answered so. */
const STAGES = [
  /** It is no request yet, so nothing is known of it. */
  "bytes",
  /** Its path is known, and no route has it. */
  "path",
  /** Its route is known, so of a command the outcome. */
  "head",
  /** A command has an operation with an id. */
  "key",
  /** The client is known, and its rate. All routes still answer alike. */
  "admission",
  /** The route answers, or a service. */
  "route",
] as const;
type Stage = (typeof STAGES)[number];

/** The routes that answer it beside those that name it in `refusals`; of fields, each that has one of them. */
type Routes = KindOfRoute | readonly string[];
export type KindOfRoute = "all" | "with_scope" | "with_path" | "with_body" | "commands";

/** A fact of the refusal that becomes a member of the body: an integer when the example is one. */
export type Member = {
  readonly description: string;
  readonly example: string | number;
  readonly values?: readonly string[];
  /** An occurrence may lack it. */
  readonly optional?: true;
};

/** The request that a sample answers. */
export type SampledRequest = { readonly scope: RequiredScope; readonly params: Readonly<Record<string, string>> };
/** An occurrence as callers see it: the text, and facts beside the examples of the members. */
export type Sample = RefusalExtra & { readonly detail: string };

type Text =
  | { readonly sample: string | Sample | ((of: SampledRequest) => string | Sample); readonly detail?: undefined }
  /** The text of every occurrence, for the message of the service is for operators. `lookUp` says how the outcome is found. */
  | { readonly detail: string | ((lookUp: string) => string); readonly sample?: undefined };

/** What a caller does: the documentation shows it. */
type Advice =
  /** Repeated as it is, the request fails in the same way until something else has changed. */
  | { readonly advice: string; readonly retry?: undefined; readonly poll?: undefined }
  /** Nothing was executed, and the same request may succeed after the seconds in `Retry-After`. */
  | { readonly retry: string; readonly advice?: undefined; readonly poll?: undefined }
  /** The first of several equal requests is in progress: repeated after the seconds in `Retry-After`, they get its outcome. */
  | { readonly poll: string; readonly advice?: undefined; readonly retry?: undefined };

/** Everything that is known of a problem code. */
export type Entry = Text &
  Advice & {
    /** The same text for every occurrence. */
    readonly title: string;
    /** What it means for the caller, in one sentence. */
    readonly meaning: string;
    readonly members?: Readonly<Record<string, Member>>;
    /** A header that each occurrence has. */
    readonly header?: "Allow" | "WWW-Authenticate";
    /** Missing where only the routes that name it in `refusals` answer it. */
    readonly answered?: { readonly at: Stage; readonly by: Routes };
  };

/** Whether a request that is answered so has come to this stage. */
export function reaches({ answered }: Entry, stage: Stage): boolean {
  return STAGES.indexOf(answered?.at ?? "route") >= STAGES.indexOf(stage);
}
